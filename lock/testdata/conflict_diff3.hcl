# ERROR: 6:1 Unresolved merge conflict

lock_format = 1

plugin "aws" {
<<<<<<< HEAD
  version = "1.4.2"
||||||| 1a2b3c4
  version = "1.4.0"
=======
  version = "1.5.0"
>>>>>>> feature
}
