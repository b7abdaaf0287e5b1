/// The names whose values are secrets.
///
/// A name has words: `X-Amz-Signature`, `sas_token`, `token[]`, `clientSecret`, `SASToken`. The last one may be a
/// compound: `authtoken`.
enum SecretNames {
  /// Whether the values of a query option, of an option in a fragment, or of a path parameter are secrets.
  static func isSecretOption(_ name: [UInt8]) -> Bool {
    let words = words(name[...])
    return optionNames.contains(words.joined()) || isSecret(words)
      || (words + [words.joined()]).contains { optionWords.contains($0) }
  }

  /// Whether the strings of a JSON member are secrets. Among data, a code, a key or a signature is no secret.
  static func isSecretMember(_ name: ArraySlice<UInt8>) -> Bool {
    let words = words(name)
    return memberNames.contains(words.joined()) || isSecret(words)
  }

  /// Whether a field of a response is a secret, in addition to the fields that are credentials.
  static func isSecretField(_ name: String) -> Bool {
    let words = words(Array(name.utf8)[...])
    return isSecret(words) || words.contains { fieldWords.contains($0) }
  }

  /// Whether the option is a secret only if its value is no literal of OData in quotes, as `GetProduct?code='A1'` has.
  static func isHarmlessAsLiteral(_ name: [UInt8]) -> Bool {
    ["code", "key", "sid"].contains(words(name[...]).joined())
  }

  private static let optionNames: Set = memberNames.union([
    "code", "authcode", "authorizationcode", "devicecode", "codeverifier", "key", "subscriptionkey",
    "ocpapimsubscriptionkey", "functionkey", "functionskey", "licensekey", "sessionid", "jsessionid", "phpsessid",
    "sid",
    "wresult",
  ])
  private static let optionWords: Set = [
    "password", "passwd", "secret", "token", "signature", "sig", "assertion", "credential", "samlresponse",
    "samlrequest", "samlart",
  ]
  private static let memberNames: Set = [
    "apikey", "xapikey", "accesskey", "privatekey", "secretkey", "clientassertion",
  ]
  private static let fieldWords: Set = [
    "auth", "authorization", "cookie", "cookie2", "session", "sessionid", "jsessionid", "phpsessid", "contextid",
    "mysapsso2",
    "apikey",
  ]
  /// A name whose last word is one of these is a secret everywhere.
  private static let lastWords: Set = ["pwd", "jwt"]
  /// A name whose last word ends with one of these is a secret everywhere.
  private static let endings = ["password", "passwd", "passphrase", "secret", "token"]
  /// Tokens that continue a list are no secrets, and tests need them.
  private static let tokensOfLists: Set = [
    "skip", "delta", "page", "next", "previous", "prev", "continuation", "sync", "change", "cursor",
    "concurrency",
  ]

  private static func isSecret(_ words: [String]) -> Bool {
    guard let last = words.last else { return false }
    return lastWords.contains(last) || endings.contains { last.hasSuffix($0) }
  }

  /// The words of a name in lower case, without the words of a list's token.
  private static func words(_ name: ArraySlice<UInt8>) -> [String] {
    var words: [[UInt8]] = [[]]
    var capitals = 1
    for byte in name {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"):
        // `TOKEN` is one word, `accessToken` two.
        if capitals == 0 { words.append([]) }
        words[words.count - 1].append(byte + 32)
        capitals += 1
      case UInt8(ascii: "a")...UInt8(ascii: "z"):
        // The last capital of `SAST` in `SASToken` begins a word.
        if capitals > 1, words[words.count - 1].count > 1 { words.append([words[words.count - 1].removeLast()]) }
        words[words.count - 1].append(byte)
        capitals = 0
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        words[words.count - 1].append(byte)
        capitals = 0
      default:
        words.append([])
        capitals = 1
      }
    }
    return withoutListToken(words.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) })
  }

  /// Words without the last ones if those are a list's token: `next` and `token`, or `nexttoken`.
  private static func withoutListToken(_ words: [String]) -> [String] {
    guard let last = words.last, last.hasSuffix("token") else { return words }
    let prefix = last.dropLast("token".count)
    if prefix.isEmpty, words.count > 1, tokensOfLists.contains(words[words.count - 2]) { return words.dropLast(2) }
    return tokensOfLists.contains { prefix.hasSuffix($0) } ? words.dropLast() : words
  }
}
