/// The names whose values are secrets.
enum SecretNames {
  private static let options: Set<String> = [
    "access_token", "refresh_token", "token", "code", "client_secret", "password", "passwd", "sap-password", "apikey",
    "api_key", "api-key", "key", "subscription-key", "sig", "signature", "assertion",
  ]

  /// Among data, a code, a key or a signature is no secret.
  private static let members = options.union(["id_token"]).subtracting(["code", "key", "sig", "signature", "assertion"])

  /// Whether the values of a query option or path parameter are secrets.
  static func hasOption(_ name: [UInt8]) -> Bool { options.contains(text(name)) }

  /// Whether the strings of a JSON member are secrets.
  static func hasMember(_ name: ArraySlice<UInt8>) -> Bool { members.contains(text(name)) }

  private static func text(_ name: some Collection<UInt8>) -> String {
    String(decoding: name, as: UTF8.self).lowercased()
  }
}
