plugins {
  required_version = "soon"
}

# ERROR: 2:22 Invalid version constraint
