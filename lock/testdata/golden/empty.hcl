# Maintained by the plugins installer. Commit this file; do not edit it by hand.

lock_format = 1
