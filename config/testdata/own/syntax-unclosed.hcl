required_plugins {
  aws = {
    source = "x.example/y"
}

# ERROR: 1:18 Unclosed configuration block
