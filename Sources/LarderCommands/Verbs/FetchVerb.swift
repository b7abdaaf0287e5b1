internal import LarderContent

extension CommandSyntax {
  /// `larder fetch URL`.
  static let fetch: CommandSyntax = .init(
    "fetch", summary: "read a resource of any kind through an HTTP cache",
    discussion: [
      "Content goes to standard output, to a pipe byte for byte, and is cached in DIR if the server or --ttl allows "
        + "it. While it is fresh, the next call prints it without a request; after that, the server must confirm it. "
        + "Redirects are followed, and cached by their own rules. The default DIR is "
        + "$XDG_CACHE_HOME/larder/content or ~/.cache/larder/content.",
      "--ttl and --soft-ttl are measured from the creation or last confirmation of the content, and override all of "
        + "the server's directives except no-store. Between the two (or within the server's stale-while-revalidate) "
        + "the cached content is printed immediately, the output is closed, and the cache is renewed before the "
        + "process ends; --wait prints the server's response instead. Times are numbers of seconds, or of minutes, "
        + "hours or days with m, h or d.",
      "--offline sends nothing: cached content of any age is printed; if nothing is cached, the exit status is 1. "
        + "With --refresh, the server must confirm or send the content. --policy selects these and others: standard; "
        + "reload (--refresh); cache-else-network, cached content of any age before the network; "
        + "stale-when-unreachable, cached content if the server cannot be reached or fails; cache-only (--offline).",
      RequestContent.help,
      "With --key-file or LARDER_KEY the cache is encrypted, including names and URLs. A folder has one key or none: "
        + "'larder cache clear' empties it for another key.",
      "Credentials are the same as for 'larder get'; content that is cached for one user is never given to another.",
    ],
    examples: [
      "larder fetch https://host/photo.jpg -o photo.jpg",
      "larder fetch --soft-ttl 60 --ttl 1d https://host/api/articles | jq .",
      "larder fetch --offline --json https://host/photo.jpg",
    ],
    options: [
      .contentCache, .keyFile, .maximumSize, .ttl, .softTTL, .wait, .offline, .refresh, .policy, .fetchMethod, .head,
      .fetchData,
      .fetchType, .fetchJSON,
    ] + ResponseOutput.options + ServiceAccess.options.filter { $0 != .service && $0 != .retry },
    operands: [FetchQuery.url]
  ) { arguments, context in
    var command = try FetchCommand(arguments, context)
    return try await command.run()
  }
}

extension OptionSyntax {
  static let contentCache = OptionSyntax(
    "--cache", valueName: "DIR", .directory,
    "cache content in DIR (default: larder's folder in the user's cache folder)")
  static let ttl = OptionSyntax(
    "--ttl", valueName: "TIME", .text, "use content for TIME, regardless of the server's directives")
  static let softTTL = OptionSyntax(
    "--soft-ttl", valueName: "TIME", .text, "after TIME, print cached content immediately and renew it")
  static let wait = OptionSyntax(flag: "--wait", "after the soft TTL, wait for the server's response and print that")
  static let offline = OptionSyntax(flag: "--offline", "send nothing: print cached content of any age")
  static let refresh = OptionSyntax(flag: "--refresh", "send the request even if the cached content is fresh")
  static let policy = OptionSyntax(
    "--policy", valueName: "POLICY", .words(ContentPolicy.words.map(\.word)), "which sources may be used")
  static let fetchMethod = OptionSyntax(
    "--method", short: "-X", valueName: "METHOD", .words(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]),
    "the method (default GET); methods except GET and HEAD remove cached content that they may have changed")
  static let head = OptionSyntax(flag: "--head", short: "-I", "request status and fields only, and print them")
  static let fetchData = OptionSyntax(
    "--data", short: "-d", valueName: "FILE", .file, "send the content of FILE, - for standard input")
  static let fetchType = OptionSyntax(
    "--content-type", valueName: "TYPE", .text, "the media type of the data")
  static let fetchJSON = OptionSyntax(
    flag: "--json", "print the details of the response as JSON; content is only written to --output FILE")
}

extension ContentPolicy {
  /// The policies with their names on the command line.
  static let words: [(word: String, policy: ContentPolicy)] = [
    ("standard", .standard), ("reload", .reload), ("cache-else-network", .cacheElseNetwork),
    ("stale-when-unreachable", .staleWhenUnreachable), ("cache-only", .cacheOnly),
  ]
}
