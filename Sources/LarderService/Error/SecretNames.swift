/// The names whose values are secrets.
///
/// A name has words: `X-Amz-Signature`, `sas_token`, `token[]`, `clientSecret`, `SASToken`. The last one may be a
/// compound: `authtoken`. A number, or a word such as `text`, may follow: `password2`, `secretText`.
enum SecretNames {
  /// Whether the values of a query option, of an option in a fragment, or of a path parameter are secrets.
  static func isSecretOption(_ name: [UInt8]) -> Bool {
    let (words, base) = words(name[...])
    return optionNames.contains(words.joined()) || isSecretMember(base)
      || (words + [words.joined()]).contains { optionWords.contains($0) }
  }

  /// Whether the strings of a JSON member are secrets. Among data, a code, a key or a signature is no secret.
  static func isSecretMember(_ name: ArraySlice<UInt8>) -> Bool { isSecretMember(words(name).base) }

  /// Whether a field of a response is a secret, in addition to the fields that are credentials.
  static func isSecretField(_ name: String) -> Bool {
    let (words, base) = words(Array(name.utf8)[...])
    return isSecret(base) || words.contains { fieldWords.contains($0) }
  }

  /// Whether the option is a secret only if its value is no literal of OData in quotes, as `GetProduct?code='A1'` has.
  static func isHarmlessAsLiteral(_ name: [UInt8]) -> Bool {
    ["code", "key", "sid"].contains(words(name[...]).all.joined())
  }

  private static let optionNames: Set = [
    "code", "authcode", "authorizationcode", "devicecode", "codeverifier", "key", "subscriptionkey",
    "ocpapimsubscriptionkey", "functionkey", "functionskey", "licensekey", "sid", "wresult",
  ]
  private static let optionWords: Set = [
    "password", "passwd", "secret", "token", "signature", "sig", "assertion", "credential", "samlresponse",
    "samlrequest", "samlart",
  ]
  private static let memberNames: Set = [
    "accountkey", "storageaccountkey", "clientassertion", "authorization", "proxyauthorization", "xauthorization",
    "sessionid", "jsessionid", "phpsessid",
  ]
  private static let fieldWords: Set = [
    "auth", "authorization", "cookie", "cookie2", "session", "sessionid", "jsessionid", "phpsessid", "contextid",
    "mysapsso2",
    "apikey",
  ]
  /// A name whose last word is one of these is a secret everywhere.
  private static let lastWords: Set = ["pwd", "jwt"]
  /// A name whose last word ends with one of these, or whose last two words are one of these, is a secret everywhere.
  private static let endings = [
    "password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey", "secretkey",
  ]
  /// Words after which a name is what it was before them.
  private static let valueWords = ["text", "value", "string", "hash"]
  /// Tokens that continue a list are no secrets, and tests need them.
  private static let tokensOfLists: Set = [
    "skip", "delta", "page", "paging", "pagination", "next", "previous", "prev", "continuation", "resume", "resumption",
    "sync", "change", "tracking", "cursor", "concurrency",
  ]

  private static func isSecretMember(_ base: [String]) -> Bool {
    isSecret(base) || memberNames.contains(base.joined())
      || ["credential", "credentials"].contains { base.last?.hasSuffix($0) ?? false }
  }

  private static func isSecret(_ base: [String]) -> Bool {
    guard let last = base.last else { return false }
    let lastTwo = base.suffix(2).joined()
    return lastWords.contains(last) || endings.contains { last.hasSuffix($0) || lastTwo == $0 }
  }

  /// Words without a number at the end, and without one of the ``valueWords``.
  private static func withoutEnd(_ words: [String]) -> [String] {
    for index in words.indices.reversed() {
      var rest = words[index][...]
      while rest.last?.isNumber ?? false { rest.removeLast() }
      if let end = valueWords.first(where: { rest.hasSuffix($0) }) { rest.removeLast(end.count) }
      if !rest.isEmpty { return words[..<index] + [String(rest)] }
    }
    return []
  }

  /// The words of a name in lower case, and those without its end. Of the name of a list's token they are the words
  /// before the list's.
  private static func words(_ name: ArraySlice<UInt8>) -> (all: [String], base: [String]) {
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
    let texts = words.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    let base = withoutEnd(texts)
    return beforeListToken(base).map { ($0, withoutEnd($0)) } ?? (texts, base)
  }

  /// The words before those of a list's token: before `next` and `token`, or `nexttoken`; nil if there is none.
  private static func beforeListToken(_ words: [String]) -> [String]? {
    guard let last = words.last, last.hasSuffix("token") else { return nil }
    var rest = Array(words.dropLast())
    let prefix = last.dropLast("token".count)
    if prefix.isEmpty {
      guard let word = rest.last, tokensOfLists.contains(word) else { return nil }
    } else {
      // `exchangetoken` is no token of changes.
      guard let end = tokensOfLists.first(where: { $0 != "change" && prefix.hasSuffix($0) }) else { return nil }
      rest.append(String(prefix.dropLast(end.count)))
    }
    while let word = rest.last, word.isEmpty || tokensOfLists.contains(word) { rest.removeLast() }
    return rest
  }
}
