/// The unencrypted header of an encrypted file, inside its first 100 bytes: everything that is needed to find the key.
///
/// Bytes 0 to 15 are the salt; a plain file has "SQLite format 3" there. Bytes 72 to 91, which SQLite reserves and
/// keeps zero (file format §1.3), are: the format's number, the three parameters of scrypt (all zero for a key of 32
/// bytes), 12 bytes of the key's check value, and 4 bytes that mark this kind of file.
struct EncryptedHeader: Sendable, Hashable {
  static let saltLength = 16
  /// The offset of the second part.
  static let start = 72
  static let end = 92
  static let checkLength = 12
  private static let markLength = 4
  static let format: UInt8 = 1

  let salt: [UInt8]
  /// The parameters of scrypt; nil for a key of 32 bytes.
  let cost: StretchingCost?
  /// The check value, which only the right key gives.
  let check: [UInt8]

  init(salt: [UInt8], cost: StretchingCost?, check: [UInt8]) {
    self.salt = salt
    self.cost = cost
    self.check = check
  }

  /// What the start of a file shows.
  enum Reading: Sendable, Hashable {
    /// An encrypted file of this format.
    case header(EncryptedHeader)
    /// An encrypted file whose format or parameters this version does not know.
    case unknown
    /// Anything else.
    case other
  }

  /// Reads the header from a file's first bytes.
  static func read(_ bytes: some Sequence<UInt8>) -> Reading {
    let bytes = Array(bytes.prefix(end))
    guard bytes.count == end else { return .other }
    let salt = Array(bytes[..<saltLength]), body = Array(bytes[start..<(end - markLength)])
    guard Array(bytes[(end - markLength)...]) == mark(salt, body) else { return .other }
    guard body[0] == format else { return .unknown }
    let check = Array(body[4...])
    if body[1...3].allSatisfy({ $0 == 0 }) { return .header(EncryptedHeader(salt: salt, cost: nil, check: check)) }
    let cost = StretchingCost(log2N: body[1], r: body[2], p: body[3])
    guard cost.isBounded else { return .unknown }
    return .header(EncryptedHeader(salt: salt, cost: cost, check: check))
  }

  /// The bytes 72 to 91 of the file.
  var bytes: [UInt8] {
    let body = EncryptedHeader.parameters(cost) + check
    return body + EncryptedHeader.mark(salt, body)
  }

  /// The format's number and scrypt's parameters.
  static func parameters(_ cost: StretchingCost?) -> [UInt8] {
    [format, cost?.log2N ?? 0, cost?.r ?? 0, cost?.p ?? 0]
  }

  private static func mark(_ salt: [UInt8], _ body: [UInt8]) -> [UInt8] {
    Array(Digest.sha256(Array("larder encrypted file".utf8) + salt + body).prefix(markLength))
  }
}
