internal import LarderHTTP
internal import LarderService

extension CommandSyntax {
  /// `larder get URL`.
  static let get: CommandSyntax = .init(
    "get", summary: "read a resource, with or without the technical cache",
    discussion: [
      "The payload goes to standard output: indented on a terminal, byte for byte to a pipe. Only the URL itself is "
        + "requested from the server.",
      "With --cache the last response is cached in DIR, one entry for each URL and user, and the next read is "
        + "conditional. With --passive nothing is sent: the cached response is printed; if there is none, the exit "
        + "status is 1.",
      "With --events each callback of the request is printed instead of the payload, one JSON object per line.",
      "--user-file contains user:password, or bearer TOKEN, or for OAuth 2.0 JSON with tokenURL, clientID, "
        + "clientSecret, clientAuthentication (client_secret_basic or client_secret_post), scope and grant: client_credentials, refresh_token (with refreshToken) or device_code (with "
        + "deviceURL). Without it, LARDER_USER and LARDER_PASSWORD, or LARDER_TOKEN, are read from the environment.",
    ],
    examples: [
      "larder get 'https://host/service/Products?$top=5'",
      "larder get --cache ~/.cache/larder 'https://host/service/Products(1)' | jq .Name",
      "larder get --cache ~/.cache/larder --passive 'https://host/service/Products(1)'",
    ],
    options: [.cache, .keyFile, .passive, .events] + ResponseOutput.options + ServiceAccess.options,
    operands: [.resourceURL]
  ) { arguments, context in
    let read = try ReadCommand(arguments, context)
    return try await read.run()
  }
}

extension OptionSyntax {
  /// The folder of the cache.
  static let cache = OptionSyntax("--cache", valueName: "DIR", .directory, "cache responses in DIR")
  static let passive = OptionSyntax(flag: "--passive", "send nothing: print the cached response")
  static let events = OptionSyntax(flag: "--events", "print each callback as a line of JSON instead of the payload")
}

extension OperandSyntax {
  /// The resource to read.
  static let resourceURL = OperandSyntax("URL", count: .one, value: .text, summary: "the resource to read")
}
