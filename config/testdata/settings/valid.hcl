registry "docker.io" {
  mirror   = "mirror.example.com/docker"
  fallback = true
  tags     = true
}

registry "registry.example.com:8443/team" {
  mirror = "./layouts/team"
}

registry "lab.example.com" {
  plain_http = true
  ca_file    = "lab.pem"
}

sources {
  allow = ["registry.example.com:8443/team", "docker.io"]
}

limits {
  bytes   = "4GiB"
  entries = 50000
  ratio   = 500
}
