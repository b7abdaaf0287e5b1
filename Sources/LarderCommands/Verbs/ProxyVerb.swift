extension CommandSyntax {
  /// `larder proxy --upstream URL`.
  static let proxy: CommandSyntax = .init(
    "proxy", summary: "serve another server's resources on this machine, through a cache",
    discussion: [
      "A reverse proxy: every request is sent to the upstream server, unless the cache may respond by the rules of "
        + "HTTP. Cache-Status in responses reports what the cache did. If the upstream server cannot be reached, a "
        + "cached response is served if the rules allow it; else the status is 502 or 504.",
      "With --cache, responses are cached in DIR and survive the process; several proxies may share DIR. Without it, "
        + "they are cached in memory. With --key-file or LARDER_KEY the contents of DIR are encrypted, including "
        + "names and URLs. Sizes are numbers of bytes, or of KiB, MiB or GiB with k, M or G.",
      "Responses to different Authorization fields, API keys, tokens, passwords and sessions are cached separately; "
        + "--credential-header adds a field, --no-credential-header removes one. Responses to different cookies are not, as in a "
        + "browser, unless --by-cookie is given: use it if several people use one proxy.",
      "With --cert or --user-file the proxy has its own credentials, and every client acts with them. A request of a "
        + "page of another site that may change something is then rejected with 403, unless --allow-cross-site is "
        + "given. A client's own Authorization replaces --user-file.",
      "Each request prints a line to standard output: time, client, method, target, status, bytes, milliseconds, and "
        + "what the cache did (hit, or why it sent a request: uri-miss, stale, ...). The first line is the address. "
        + "On SIGINT, SIGTERM or SIGHUP the proxy completes running requests and exits with 0.",
      "The proxy uses plain HTTP for its clients and is meant for this machine; --host opens it to others. Others on "
        + "the network can then read its responses. Clients are then separated as with --by-cookie, and responses "
        + "that a server marks as private are not cached for requests without credentials. The proxy accepts "
        + "requests to addresses, localhost, the upstream server's name and each --name; it rejects others with 421, "
        + "because a web page could use a name of its own that points to this machine.",
    ],
    examples: [
      "larder proxy --upstream https://api.example.com --port 8080 --cache ~/.cache/larder-proxy",
      "curl -i http://127.0.0.1:8080/resource",
    ],
    options: [
      .upstream, .port, .host, .servedName, .proxyCache, .keyFile, .maximumSize, .memory, .upstreamTimeout,
      .maximumBody,
      .connectionLimit,
      .forwarded, .byCookie, .credentialHeader, .noCredentialHeader, .allowCrossSite, .quiet, .json, .userFile,
      .authorities,
      .certificate, .key,
    ]
  ) { arguments, context in
    #if canImport(LarderServer)
      try await ProxyCommand(arguments, context).run()
    #else
      throw CommandFailure(
        .negative, "larder proxy is not supported on this system: notSupported(proxy)", hint: "It runs on Linux.")
    #endif
  }
}

extension OptionSyntax {
  static let upstream = OptionSyntax("--upstream", valueName: "URL", .text, "the server that requests are for")
  static let port = OptionSyntax(
    "--port", valueName: "N", .text, "listen on port N (default 8080); 0 for any free port")
  static let host = OptionSyntax("--host", valueName: "ADDRESS", .text, "listen on ADDRESS (default 127.0.0.1)")
  static let servedName = OptionSyntax(
    "--name", valueName: "NAME", .text, isRepeatable: true,
    "accept requests to NAME, a DNS name of this machine; '*' for any name")
  static let proxyCache = OptionSyntax("--cache", valueName: "DIR", .directory, "cache responses in DIR")
  static let maximumSize = OptionSyntax(
    "--max-size", valueName: "SIZE", .text, "store at most SIZE in DIR (default 512M)")
  static let memory = OptionSyntax("--memory", valueName: "SIZE", .text, "store at most SIZE in memory (default 64M)")
  static let upstreamTimeout = OptionSyntax(
    "--timeout", valueName: "SECONDS", .text,
    "fail after SECONDS without data from the upstream server (default 60)")
  static let maximumBody = OptionSyntax(
    "--max-body", valueName: "SIZE", .text, "reject requests with more content than SIZE (default 1G)")
  static let connectionLimit = OptionSyntax(
    "--max-connections", valueName: "N", .text, "serve at most N concurrent connections (default 4096)")
  static let forwarded = OptionSyntax(
    flag: "--forwarded", "send the client's address to the upstream server in Forwarded")
  static let byCookie = OptionSyntax(
    flag: "--by-cookie", "cache the responses to different cookies separately")
  static let allowCrossSite = OptionSyntax(
    flag: "--allow-cross-site", "let pages of other sites make changes with --cert or --user-file")
  static let quiet = OptionSyntax(flag: "--quiet", short: "-q", "do not print a line for each request")
}
