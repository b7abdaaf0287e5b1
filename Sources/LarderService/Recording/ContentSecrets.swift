/// A scanner that replaces what the structure of a content shows to be secret.
protocol ContentSecrets {
  var bytes: [UInt8] { get }
  /// The index of the next byte.
  var position: Int { get set }
  /// Whether the content is a metadata document, which has no values.
  var isModel: Bool { get }
  var edits: SecretEdits { get }

  /// - Parameter nested: redacts JSON and XML in strings and texts; nil if nothing changes.
  init(_ bytes: [UInt8], _ nested: @escaping ([UInt8]) -> [UInt8]?)

  /// Reads the next part of the content.
  mutating func step()
  /// Closes what the content has left open.
  mutating func closeAll()
}

extension ContentSecrets {
  /// The redacted content, and how many values were replaced; nil if there are none.
  static func redacted(_ bytes: [UInt8], nested: ([UInt8]) -> [UInt8]?) -> (bytes: [UInt8], count: Int)? {
    withoutActuallyEscaping(nested) { nested in
      var secrets = Self(bytes, nested)
      while secrets.position < bytes.count, !secrets.isModel { secrets.step() }
      secrets.closeAll()
      return secrets.isModel || secrets.edits.isEmpty
        ? nil : (secrets.edits.applied(to: bytes), secrets.edits.count)
    }
  }
}

/// Replacements in a text, which are collected in any order.
struct SecretEdits {
  private var edits: [(range: Range<Int>, text: [UInt8])] = []
  /// How many of them replace a secret.
  private(set) var count = 0

  var isEmpty: Bool { edits.isEmpty }

  mutating func insert(_ range: Range<Int>, _ text: [UInt8], counts: Bool = true) {
    edits.append((range, text))
    if counts { count += 1 }
  }

  /// The text with all replacements. Of two that overlap, the first one in the text counts.
  func applied(to bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var copied = 0
    for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) where edit.range.lowerBound >= copied {
      result += bytes[copied..<edit.range.lowerBound]
      result += edit.text
      copied = edit.range.upperBound
    }
    return result + bytes[copied...]
  }
}
