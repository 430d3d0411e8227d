plugins {
  required_version = ">= 0.1.0"
  platforms        = ["linux/amd64", "linux/arm64/v8", "darwin/arm64"]
}

required_plugins {
  aws = {
    source    = "registry.example.com/fleeting/aws"
    version   = "~> 1.2"
    protocols = [6, 5]
  }
  velero_aws = {
    source     = "docker.io/velero/velero-plugin-for-aws"
    version    = "~> 1.9.0"
    executable = "/plugins/velero-plugin-for-aws"
    platforms  = ["linux/arm64", "linux/amd64"]
  }
}

required_plugins {
  # The same text again is the same requirement.
  aws = {
    version = "~> 1.2", protocols = [5, 6], source = "registry.example.com/fleeting/aws"
  }
  aws-again = { source = "registry.example.com/fleeting/aws", version = "1.2.0" }
  by-platform = {
    source  = "[::1]:5000/x"
    version = ">= 1.0.0-rc.1, < 2.0.0"
    executable = {
      "linux/amd64"  = "/plugins/x"
      "linux/arm64"  = "/plugins/x-arm"
      "darwin/arm64" = "/plugins/x-mac"
    }
  }
}
