required_plugins {
  aws = {
    source  = "x.example/y
    version = "1.0.0"
  }
}

# ERROR: 3:27 Unterminated template string
