# ERROR: 5:12 Unclosed configuration block

lock_format = 1

plugin "b" {
