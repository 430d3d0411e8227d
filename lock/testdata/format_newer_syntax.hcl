# ERROR: 3:15 Lock file of a newer version

lock_format = 3
lock_format = 1

plugin {{
