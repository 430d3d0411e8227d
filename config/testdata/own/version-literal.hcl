plugins {
  required_version = var.version
}

# ERROR: 2:22 Value is not a literal
