# ERROR: 5:1 Invalid argument name

lock_format = 1

"lock" = 1
