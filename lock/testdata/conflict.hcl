# ERROR: 7:1 Unresolved merge conflict

lock_format = 1

plugin "aws" {
  source  = "registry.example.com/fleeting/aws"
<<<<<<< HEAD
  version = "1.4.2"
=======
  version = "1.5.0"
>>>>>>> feature
}

<<<<<<< HEAD
=======
x = 1
>>>>>>> feature
