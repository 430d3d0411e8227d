required_plugins {
  aws = {
    source  = "registry.example.com/fleeting/aws"
<<<<<<< HEAD
    version = "~> 1.2"
=======
    version = "~> 1.3"
>>>>>>> feature
  }
}

# ERROR: 4:1 Unresolved merge conflict
