@_spi(Stores) import LarderCore

/// Replaces the secrets of a text by `***`, in one pass over its bytes, which need not be UTF-8.
///
/// Secrets are the values of options with a secret name, the strings of JSON members and the texts of XML elements with
/// a secret name, and the user information of URLs, which is removed. An option follows `?`, `&`, `#` or `;`, and in a
/// path `(` or `,`, as they are or as an escape of JSON, HTML or a URL, or begins the content, as in a form. Its value
/// ends at white space, `"`, `<`, `>` or `&`; before the query also at `;`, and, if the text does not begin with a name
/// and `=` as a connection string does, at `/`, `?` or `#`; and at `'` if one has begun the text. If the value begins
/// with a literal of OData in `'`, it ends after the literal. An option whose value is JSON with secrets, as the
/// alias in `Login(user=@p)?@p={…}` can be, has a secret value.
///
/// Text between white space is a URL, in which options are replaced, if a slash or a quotation mark precedes the
/// option, or if the text begins with `?`, or if it begins the content, a string or an element. `Is 1?code=2` is none.
struct SecretScan {
  let bytes: [UInt8]
  /// The content is one URL, with whatever characters.
  let isURL: Bool
  /// The content is an object or an array of JSON.
  let isJSON: Bool
  private var result: [UInt8] = []
  /// Where the secrets are that were replaced.
  private var replacedRanges: [Range<Int>] = []
  /// Where the bytes begin that the result does not have yet.
  private var copied = 0
  var index = 0
  private var start = 0
  var looksLikeURL = true
  var isPath = true
  /// The text begins with a name and `=`, as a connection string does.
  var isList = false
  /// A `'` has begun a string, and none has ended it.
  var isQuoted = false
  var name: [UInt8] = []
  /// The parameter aliases, such as `@p`, that secret arguments of the text have as their values.
  var aliases: Set<[UInt8]> = []
  /// Where the last value of an option ends that was examined as JSON.
  var jsonEnd = 0
  /// Where the last comment ends in the text of an element with a secret name.
  var commentEnd = 0
  /// Until where no section of XML that begins there ends.
  var openSectionEnds: [Section: Int] = [:]

  private init(_ bytes: [UInt8], isURL: Bool) {
    self.bytes = bytes
    self.isURL = isURL
    let first = bytes.first { $0 > 0x20 }
    isJSON = !isURL && (first == UInt8(ascii: "{") || first == UInt8(ascii: "["))
  }

  /// A URL without secrets.
  static func url(_ text: String) -> String {
    String(decoding: scan(Array(text.utf8), isURL: true).bytes, as: UTF8.self)
  }

  /// A text with URLs and JSON, without secrets.
  static func content(_ bytes: [UInt8]) -> [UInt8] { scan(bytes, isURL: false).bytes }

  /// Whether the JSON of an option has secrets. Options in it are not examined as JSON again.
  static func hasSecrets(json: [UInt8]) -> Bool {
    var scan = SecretScan(json, isURL: false)
    scan.jsonEnd = json.count
    return scan.run() != json
  }

  /// A text without secrets, and the secrets.
  static func scan(_ bytes: [UInt8], isURL: Bool) -> (bytes: [UInt8], secrets: [ArraySlice<UInt8>]) {
    var scan = SecretScan(bytes, isURL: isURL)
    let result = scan.run()
    return (result, scan.replacedRanges.map { bytes[$0] })
  }

  private mutating func run() -> [UInt8] {
    if !isURL { replaceFirstOption() }
    while index < bytes.count { step() }
    return copied == 0 ? bytes : result + bytes[copied...]
  }

  /// The first option of form content, such as `access_token=a&b=c`.
  private mutating func replaceFirstOption() {
    isList = optionValue(at: 0) != nil
    isPath = false
    hide(secretOption(at: 0))
    isPath = true
  }

  private mutating func step() {
    let unit = unit(at: index)
    let end = index + unit.length
    defer { index = max(index, end) }
    switch unit.byte {
    case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: ";"):
      if unit.byte == UInt8(ascii: "?"), index == start { looksLikeURL = true }
      if unit.byte != UInt8(ascii: ";") { isPath = false }
      hide(secretOption(at: end))
    case UInt8(ascii: "("), UInt8(ascii: ","):
      if isPath { hide(secretOption(at: end, isArgument: true)) }
    case UInt8(ascii: ":"):
      if endsScheme(before: index),
        let user = userInformation(at: end, hasScheme: true, isEncoded: unit.isPercent)
      {
        replace(user, by: [])
      }
    case UInt8(ascii: "/"):
      looksLikeURL = true
      if index == start, let user = userInformation(at: index, hasScheme: false, isEncoded: unit.isPercent) {
        replace(user, by: [])
      }
    case _ where isURL || unit.isPercent: break
    case UInt8(ascii: "'"):
      looksLikeURL = true
      isQuoted.toggle()
    case UInt8(ascii: "\""):
      hide(secretString(at: end, opening: QuotationMark(bytes[index..<end])))
      begin(at: end, looksLikeURL: true)
    case UInt8(ascii: "<"):
      hide(secretElement(at: end), isText: true)
      begin(at: max(index, end), looksLikeURL: true)
    case UInt8(ascii: ">"): begin(at: end, looksLikeURL: true)
    case 0...0x20: begin(at: end, looksLikeURL: false)
    default: break
    }
  }

  private mutating func begin(at start: Int, looksLikeURL: Bool) {
    (self.start, self.looksLikeURL, isPath, isQuoted) = (start, looksLikeURL, true, false)
    isList = looksLikeURL && optionValue(at: start) != nil
    if !aliases.isEmpty { aliases = [] }
  }

  /// Replaces a secret, if it is one.
  private mutating func hide(_ secret: Range<Int>?, isText: Bool = false) {
    guard let secret, SecretScan.isSecret(bytes[secret]) else { return }
    let replacement = isText ? SecretScan.replacement(ofText: bytes[secret]) : SecretScan.replacement
    if !bytes[secret].elementsEqual(replacement) { replace(secret, by: replacement) }
  }

  static let replacement = Array("***".utf8)

  /// Text of XML can be a number by its declared type, and must stay one.
  static func replacement(ofText text: ArraySlice<UInt8>) -> [UInt8] {
    text.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? [UInt8(ascii: "0")] : replacement
  }

  /// Whether a value with a secret name is a secret: an empty one, a word that says whether there is one, and one that was
  /// replaced are none.
  static func isSecret(_ value: ArraySlice<UInt8>) -> Bool {
    guard value.count <= 5 else { return true }
    return !["", "***", "true", "false", "yes", "no", "null"].contains(
      String(decoding: value, as: UTF8.self).lowercased())
  }

  private mutating func replace(_ range: Range<Int>, by replacement: [UInt8]) {
    replacedRanges.append(range)
    result += bytes[copied..<range.lowerBound]
    result += replacement
    (copied, index) = (range.upperBound, range.upperBound)
  }

  // MARK: Characters

  /// The character at a position, and how many bytes it has: `%26`, `\u0026`, `\/` and `\"` are characters too.
  func unit(at index: Int) -> (byte: UInt8, length: Int, isPercent: Bool) {
    let byte = bytes[index]
    if byte == UInt8(ascii: "%"), let value = number(at: index + 1, digits: 2) { return (value, 3, true) }
    guard byte == UInt8(ascii: "\\") else { return (byte, 1, false) }
    var end = index + 1
    // JSON inside JSON has several.
    while end < bytes.count, bytes[end] == byte { end += 1 }
    let length = end - index + 1
    switch end < bytes.count ? bytes[end] : 0 {
    case UInt8(ascii: "\""): return (UInt8(ascii: "\""), length, false)
    case UInt8(ascii: "/"): return (UInt8(ascii: "/"), length, false)
    case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): return (0x0A, length, false)
    case UInt8(ascii: "u"):
      guard number(at: end + 1, digits: 2) == 0, let value = number(at: end + 3, digits: 2) else { fallthrough }
      return (value, length + 4, false)
    default: return (byte, length - 1, false)
    }
  }

  private func number(at index: Int, digits: Int) -> UInt8? {
    guard index + digits <= bytes.count else { return nil }
    return Hexadecimal.bytes(bytes[index..<index + digits])?.first
  }

  static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "$"):
      true
    default: false
    }
  }

  /// The most bytes of a name.
  static let nameLimit = 64
}
