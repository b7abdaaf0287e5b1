internal import LarderHTTP
internal import LarderService

extension CommandSyntax {
  /// `larder get URL`.
  static let get: CommandSyntax = .init(
    "get", summary: "read a resource, with or without the technical cache",
    discussion: [
      "The payload goes to standard output: indented on a terminal, byte for byte as received into a pipe. Nothing is "
        + "asked of the server but the URL itself.",
      "With --cache the last answer is kept in DIR, one entry for each URL and user, and the next read is a conditional "
        + "one. With --passive nothing is sent: the kept answer is printed, or 1 is the exit status where there is none.",
      "With --events each callback of the request is printed in place of the payload, one JSON object a line.",
      "--user-file holds user:password, or bearer TOKEN, or for OAuth 2.0 JSON with tokenURL, clientID, clientSecret, "
        + "scope and grant: client_credentials, refresh_token (with refreshToken) or device_code (with deviceURL). "
        + "Without it LARDER_USER and LARDER_PASSWORD, or LARDER_TOKEN, are taken from the environment.",
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
  static let cache = OptionSyntax("--cache", valueName: "DIR", .directory, "keep answers in DIR")
  static let passive = OptionSyntax(flag: "--passive", "send nothing: answer from the cache alone")
  static let events = OptionSyntax(flag: "--events", "print each callback as a line of JSON, not the payload")
}

extension OperandSyntax {
  /// The resource to read.
  static let resourceURL = OperandSyntax("URL", .one, .text, "what to read")
}
