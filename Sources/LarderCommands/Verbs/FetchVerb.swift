internal import LarderContent

extension CommandSyntax {
  /// `larder fetch URL`.
  static let fetch: CommandSyntax = .init(
    "fetch", summary: "get a resource of any kind, through an HTTP cache",
    discussion: [
      "Content goes to standard output, byte for byte into a pipe, and is kept in DIR where the server or --ttl allows it. "
        + "While it is fresh, the next call answers from there and asks nobody; then the server is asked whether it has "
        + "changed. Redirects are followed, and kept by their own rules. DIR is $XDG_CACHE_HOME/larder/content or "
        + "~/.cache/larder/content where it is not given.",
      "--ttl and --soft-ttl count from the moment when the content was made or confirmed, and win over all that the server "
        + "says but no-store. Between the two (or where the server says stale-while-revalidate) the kept content is printed "
        + "at once, the output closed, and the cache renewed before the process ends; --wait prints the server's answer "
        + "instead. Times are numbers of seconds, or of minutes, hours or days with m, h or d.",
      "--offline sends nothing: kept content is printed however old it is, or 1 is the exit status where there is none. "
        + "--refresh has the server confirm or send the content. --policy names these and others: standard; reload "
        + "(--refresh); cache-else-network, kept content of any age before the network; stale-when-unreachable, kept content "
        + "where the server cannot be reached or fails; cache-only (--offline).",
      RequestContent.help,
      "With --key-file or LARDER_KEY what is kept is encrypted, names and URLs included. A folder has one key or none: 'larder "
        + "cache reset' empties it for another.",
      "Signing in is as for 'larder get'; what is kept for one caller is never given to another.",
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
    "--cache", valueName: "DIR", .directory, "keep content in DIR (default: larder's folder among the user's caches)")
  static let ttl = OptionSyntax("--ttl", valueName: "TIME", .text, "use content for so long, whatever the server says")
  static let softTTL = OptionSyntax(
    "--soft-ttl", valueName: "TIME", .text, "past so long print kept content at once and renew it")
  static let wait = OptionSyntax(flag: "--wait", "past the soft TTL wait for the server's answer and print that")
  static let offline = OptionSyntax(flag: "--offline", "send nothing: print what is kept, however old")
  static let refresh = OptionSyntax(flag: "--refresh", "ask the server, however fresh the kept content is")
  static let policy = OptionSyntax(
    "--policy", valueName: "WORD", .words(ContentPolicy.words.map(\.word)), "where the answer may come from")
  static let fetchMethod = OptionSyntax(
    "--method", short: "-X", valueName: "METHOD", .words(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]),
    "the method (default GET); others than GET and HEAD make the cache forget what they may have changed")
  static let head = OptionSyntax(flag: "--head", short: "-I", "ask for status and fields alone, and print them")
  static let fetchData = OptionSyntax(
    "--data", short: "-d", valueName: "FILE", .file, "send the content of FILE, - for standard input")
  static let fetchType = OptionSyntax(
    "--content-type", valueName: "TYPE", .text, "the media type of the data")
  static let fetchJSON = OptionSyntax(
    flag: "--json", "print what is known of the answer as JSON, and no content but into --output FILE")
}

extension ContentPolicy {
  /// The policies with their names on the command line.
  static let words: [(word: String, policy: ContentPolicy)] = [
    ("standard", .standard), ("reload", .reload), ("cache-else-network", .cacheElseNetwork),
    ("stale-when-unreachable", .staleWhenUnreachable), ("cache-only", .cacheOnly),
  ]
}
