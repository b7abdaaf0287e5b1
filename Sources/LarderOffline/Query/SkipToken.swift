import LarderCore
import LarderStorage

/// The position where a page ended: the `$skiptoken` of this store's own next links.
///
/// The token is opaque to clients: base64url of a version, a digest of the order, the number of rows delivered so far
/// and the last row's values of the order's terms. This is keyset paging: rows that are inserted or deleted before the
/// position do not shift the next page.
struct SkipToken: Sendable, Hashable {
  /// A digest of the order of the rows: a token of a query with another order is rejected.
  let order: UInt64
  /// The number of rows in the pages so far.
  let delivered: Int
  /// The last row's values, one for each term of the order.
  let values: [SQLValue]

  init(order: UInt64, delivered: Int, values: [SQLValue]) {
    self.order = order
    self.delivered = delivered
    self.values = values
  }

  private static let version: UInt8 = 1
  /// The longest token that is read: no order needs more.
  private static let longest = 1 << 16

  // MARK: Writing

  /// The token as written in a URL: letters, digits, `-` and `_`.
  var text: String {
    var bytes: [UInt8] = [SkipToken.version]
    SkipToken.append(order, to: &bytes)
    SkipToken.append(UInt64(clamping: delivered), to: &bytes)
    for value in values {
      switch value {
      case .null: bytes.append(0)
      case .integer(let number):
        bytes.append(1)
        SkipToken.append(UInt64(bitPattern: number), to: &bytes)
      case .real(let number):
        bytes.append(2)
        SkipToken.append(number.bitPattern, to: &bytes)
      case .text(let text): SkipToken.append(Array(text.utf8), tag: 3, to: &bytes)
      case .blob(let blob): SkipToken.append(blob, tag: 4, to: &bytes)
      }
    }
    return Base64.text(bytes, isURLSafe: true)
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  private static func append(_ content: [UInt8], tag: UInt8, to bytes: inout [UInt8]) {
    bytes.append(tag)
    append(UInt64(content.count), to: &bytes)
    bytes += content
  }

  // MARK: Reading

  /// Reads a token; nil if the text is not a token of this version.
  init?(_ text: String) {
    guard text.utf8.count <= SkipToken.longest else { return nil }
    guard var rest = Base64.decode(text)?[...] else { return nil }
    guard rest.popFirst() == SkipToken.version, let order = SkipToken.number(&rest),
      let delivered = SkipToken.number(&rest).flatMap({ Int(exactly: $0) })
    else { return nil }
    var values: [SQLValue] = []
    while let tag = rest.popFirst() {
      guard let value = SkipToken.value(tag, &rest) else { return nil }
      values.append(value)
    }
    self.init(order: order, delivered: delivered, values: values)
  }

  private static func value(_ tag: UInt8, _ rest: inout ArraySlice<UInt8>) -> SQLValue? {
    switch tag {
    case 0: return .null
    case 1: return number(&rest).map { .integer(Int64(bitPattern: $0)) }
    case 2: return number(&rest).map { .real(Double(bitPattern: $0)) }
    case 3, 4:
      guard let count = number(&rest).flatMap({ Int(exactly: $0) }), count <= rest.count else { return nil }
      let content = Array(rest.prefix(count))
      rest = rest.dropFirst(count)
      if tag == 4 { return .blob(content) }
      return String(validating: content, as: UTF8.self).map { .text($0) }
    default: return nil
    }
  }

  private static func number(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
    guard rest.count >= 8 else { return nil }
    let number = rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    rest = rest.dropFirst(8)
    return number
  }
}
