extension CommandSyntax {
  /// `larder proxy --upstream URL`.
  static let proxy: CommandSyntax = .init(
    "proxy", summary: "serve another server's resources on this machine, through a cache",
    discussion: [
      "A reverse proxy: whatever is asked of it is asked of the upstream server, unless the cache may answer by the rules "
        + "of HTTP. Answers say what the cache did in Cache-Status. Where the upstream server cannot be reached, a stored "
        + "answer is given if the rules allow it, else 502 or 504.",
      "With --cache answers are kept in DIR and survive the process; several proxies may share DIR. Without, they are kept "
        + "in memory. With --key-file or LARDER_KEY what is in DIR is encrypted, names and URLs included. Sizes are numbers of bytes, or of kibibytes and so on with k, M or G.",
      "Answers to different Authorization fields, API keys and tokens are never exchanged; --credential-header adds a field, "
        + "--no-credential-header removes one. Cookies decide nothing by themselves, as in a browser, unless --by-cookie is given: do that where several people use one proxy.",
      "With --cert or --user-file the proxy has credentials of its own, and every client acts in their name. A request of a page in a "
        + "browser that comes from another site and may change something is then rejected with 403, unless --allow-cross-site is given. "
        + "A client's own Authorization goes in place of --user-file.",
      "Each request is a line of standard output: time, client, method, target, status, bytes, milliseconds, and what the "
        + "cache did (hit, or why it asked: uri-miss, stale, ...). The first line tells the address. The proxy ends on "
        + "SIGINT, SIGTERM or SIGHUP, after the requests that are under way, with status 0.",
      "The proxy speaks plain HTTP to its clients and is meant for this machine: --host opens it to others. Those who listen "
        + "on the way can read what it answers. Its clients are kept apart then as with --by-cookie, and what a server marks as private "
        + "is not kept for requests without credentials. It answers to addresses, localhost, the upstream server's name and each --name; to others it says "
        + "421, as a web page could have a name of its own pointed at this machine.",
    ],
    examples: [
      "larder proxy --upstream https://api.example.com --port 8080 --cache ~/.cache/larder-proxy",
      "curl -i http://127.0.0.1:8080/resource",
    ],
    options: [
      .upstream, .port, .host, .servedName, .proxyCache, .keyFile, .maximumSize, .memory, .upstreamTimeout,
      .maximumBody,
      .maximumConnections,
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
  static let port = OptionSyntax("--port", valueName: "N", .text, "listen on port N (default 8080); 0 takes a free one")
  static let host = OptionSyntax("--host", valueName: "ADDRESS", .text, "listen on ADDRESS (default 127.0.0.1)")
  static let servedName = OptionSyntax(
    "--name", valueName: "NAME", .text, isRepeatable: true,
    "answer to clients that call this machine NAME, a DNS name; '*' is any")
  static let proxyCache = OptionSyntax("--cache", valueName: "DIR", .directory, "keep answers in DIR")
  static let maximumSize = OptionSyntax(
    "--max-size", valueName: "SIZE", .text, "keep at most SIZE in DIR (default 512M)")
  static let memory = OptionSyntax("--memory", valueName: "SIZE", .text, "keep at most SIZE in memory (default 64M)")
  static let upstreamTimeout = OptionSyntax(
    "--timeout", valueName: "SECONDS", .text,
    "give up on the upstream server after so many seconds of silence (default 60)")
  static let maximumBody = OptionSyntax(
    "--max-body", valueName: "SIZE", .text, "refuse requests with more content than SIZE (default 1G)")
  static let maximumConnections = OptionSyntax(
    "--max-connections", valueName: "N", .text, "serve at most N connections at once (default 4096)")
  static let forwarded = OptionSyntax(flag: "--forwarded", "tell the upstream server who asked, in Forwarded")
  static let byCookie = OptionSyntax(
    flag: "--by-cookie", "keep the answers to requests with different cookies apart")
  static let allowCrossSite = OptionSyntax(
    flag: "--allow-cross-site", "let pages of other sites change things in the name of --cert or --user-file")
  static let quiet = OptionSyntax(flag: "--quiet", short: "-q", "print no line for each request")
}
