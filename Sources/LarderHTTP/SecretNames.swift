/// The names whose values are secrets: the one list for caches, the proxy, arguments, recordings and messages.
///
/// A name has words: `X-Amz-Signature`, `sas_token`, `token[]`, `clientSecret`, `SASToken`. The last one may be a
/// compound: `authtoken`. A number, or a word such as `text`, may follow: `password2`, `secretText`.
package enum SecretNames {
  /// Whether the values of a query option, of an option in a fragment, or of a path parameter are secrets.
  package static func isSecretOption(_ name: [UInt8]) -> Bool {
    let (words, base) = words(name[...])
    return optionNames.contains(words.joined()) || isSecretMember(base)
      || (words + [words.joined()]).contains { optionWords.contains($0) }
  }

  /// Whether the strings of a JSON member are secrets. Among data, a code, a key or a signature is no secret.
  package static func isSecretMember(_ name: ArraySlice<UInt8>) -> Bool { isSecretMember(words(name).base) }

  /// Whether the values in an array or object, or in the children of an element, are secrets, such as `tokens`. A single
  /// value under such a name is a count.
  package static func isSecretCollection(_ name: ArraySlice<UInt8>) -> Bool {
    guard let last = name.last, last == UInt8(ascii: "s") || last == UInt8(ascii: "S") else { return false }
    let all = allWords(name.dropLast())
    return isSecretMember(withoutEnd(all)) && beforeListToken(withoutEnd(all)) == nil || all == ["cookie"]
  }

  /// Whether a member of a secret object says what it is, and is no secret: an identifier, an ETag, a type, a link.
  package static func isControlInformation(_ name: [UInt8]) -> Bool {
    if name.contains(UInt8(ascii: "@")) || name.first == UInt8(ascii: "$") || name.starts(with: "__".utf8) {
      return true
    }
    let base = words(name[...]).base
    return ["id", "uuid", "guid", "etag", "type", "kind", "href"].contains(base.last) && !isSecretMember(base)
  }

  /// The names of members, elements and attributes that name a value beside them, and those of such values.
  package static let pairNames: Set = ["name", "key", "field", "header", "parameter", "property", "variable", "label"]
  package static let pairValues: Set = ["value", "values", "val"]

  /// Whether the value of a pair with a name is a secret.
  package static func isSecretName(ofPair name: [UInt8]) -> Bool {
    guard name.count <= 128 else { return false }
    let all = allWords(name[...])
    return isSecretMember(name[...]) || all.last == "cookie"
  }

  /// What the name of a header field says about its value.
  package enum FieldKind: Sendable, Hashable {
    /// The value identifies the client, or authenticates it.
    case credential
    /// A CSRF token: it is useless without the session's cookie.
    case csrfToken
    /// A token that continues a list, such as `X-Continuation-Token`: another value requests other data.
    case listToken
    case other
  }

  /// The kind of a field. Names of fields are equal without regard to case, so the case says nothing about their words:
  /// a word may be a compound, such as `xapikey`.
  package static func kind(ofField name: HTTPFieldName) -> FieldKind {
    let name = name.canonicalName
    switch name {
    case "authorization", "cookie", "proxy-authorization": return .credential
    // Alone, `Key` is not known to be one; the others name a protocol's version and a connection.
    case "key", "cookie2", "sec-websocket-key": return .other
    // Most requests have these.
    case "accept", "host", "user-agent", "accept-encoding", "accept-language", "connection": return .other
    default: if !mayBeSecret(name.utf8) { return .other }
    }
    let all = allWords(Array(name.utf8)[...])
    let joined = all.joined()
    if joined.hasSuffix("idempotencykey") { return .other }
    if joined.hasSuffix("token"), csrfWords.contains(where: { joined.contains($0) }) { return .csrfToken }
    if let rest = beforeListToken(withoutEnd(all)) { return isCredentialField(rest) ? .credential : .listToken }
    return isCredentialField(all) ? .credential : .other
  }

  /// Whether the option is a secret only if its value is no literal of OData in quotes, as `GetProduct?code='A1'` has.
  package static func isHarmlessAsLiteral(_ name: [UInt8]) -> Bool {
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
  /// A field that has one of these words is a credential.
  private static let fieldWords: Set = [
    "auth", "authorization", "cookie", "session", "sessionid", "jsessionid", "phpsessid", "contextid", "mysapsso2",
    "apikey", "bearer", "dpop",
  ]
  /// A field whose last word ends with one of these, or whose last two words are one of these, is a credential.
  private static let fieldEndings = [
    "authorization", "authentication", "auth", "cookie", "session", "sessionid", "contextid", "key", "jwt",
    "credential",
    "credentials",
  ]
  /// Words that end like one of the ``fieldEndings``, and have nothing to do with it.
  private static let otherWords = [
    "monkey", "donkey", "turkey", "hockey", "jockey", "lackey", "whiskey", "mickey", "hotkey", "possession",
    "obsession", "supersession",
  ]
  private static let csrfWords = ["csrf", "xsrf", "requestverification"]
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

  private static func isCredentialField(_ all: [String]) -> Bool {
    let base = withoutEnd(all)
    guard let last = base.last else { return false }
    let lastTwo = base.suffix(2).joined()
    // `Access-Control-Allow-Credentials` says whether others may send some.
    if all.starts(with: ["access", "control"]) { return false }
    return isSecret(base) || all.contains { fieldWords.contains($0) }
      || fieldEndings.contains { last.hasSuffix($0) || lastTwo == $0 } && !otherWords.contains { last.hasSuffix($0) }
  }

  /// Whether a name in lower case can be a credential: each has one of these parts. Most fields of a request have none,
  /// and this is called for each of them.
  private static func mayBeSecret(_ name: String.UTF8View) -> Bool {
    var part: UInt32 = 0
    for byte in name {
      part = (part << 8 | UInt32(byte)) & 0xFF_FFFF
      switch part {
      case 0x746F6B, 0x656372, 0x706173, 0x707764: return true  // tok, ecr (secret), pas (password), pwd
      case 0x6A7774, 0x6B6579, 0x757468, 0x636F6F: return true  // jwt, key, uth (auth), coo (cookie)
      case 0x736573, 0x787469, 0x73736F, 0x626561: return true  // ses (session), xti (contextid), sso, bea (bearer)
      case 0x64706F, 0x637265: return true  // dpo, cre (credential)
      default: continue
      }
    }
    return false
  }

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
    let all = allWords(name)
    let base = withoutEnd(all)
    return beforeListToken(base).map { ($0, withoutEnd($0)) } ?? (all, base)
  }

  /// The words of a name in lower case.
  private static func allWords(_ name: ArraySlice<UInt8>) -> [String] {
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
    return words.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
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
