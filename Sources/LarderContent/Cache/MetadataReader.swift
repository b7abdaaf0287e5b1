import LarderHTTP

/// Parses encoded metadata from the first byte to the last; no read leaves the buffer.
@safe struct MetadataReader: ~Copyable {
  // Valid as long as the reader: both exist inside one `withUnsafeBytes`.
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  typealias Failure = CacheMetadata.DecodingError

  init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = bytes }

  private var remainingCount: Int { unsafe bytes.count &- offset }

  mutating func byte() throws(Failure) -> UInt8 {
    guard remainingCount > 0 else { throw Failure(.cutOff, at: offset) }
    let value = unsafe bytes[offset]
    offset &+= 1
    return value
  }

  mutating func number() throws(Failure) -> UInt64 {
    let start = offset
    let first = try byte()
    if first < 0x80 { return UInt64(first) }
    var value = UInt64(first & 0x7F)
    var shift: UInt64 = 7
    while true {
      let next = try byte()
      let group = UInt64(next & 0x7F)
      // The tenth group has room for the highest bit alone.
      guard shift < 63 || (shift == 63 && group <= 1) else { throw Failure(.number, at: start) }
      value |= group &<< shift
      if next < 0x80 { return value }
      shift &+= 7
    }
  }

  mutating func int() throws(Failure) -> Int {
    let start = offset
    let folded = try number()
    let value = Int64(bitPattern: (folded &>> 1) ^ (0 &- (folded & 1)))
    guard let value = Int(exactly: value) else { throw Failure(.number, at: start) }
    return value
  }

  mutating func fixed() throws(Failure) -> Int64 {
    guard remainingCount >= 8 else { throw Failure(.cutOff, at: offset) }
    // The eight bytes are there.
    let value = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    offset &+= 8
    return Int64(bitPattern: UInt64(littleEndian: value))
  }

  /// The number of elements that follow; never more than the remaining bytes could hold.
  mutating func count(leastBytesEach least: Int) throws(Failure) -> Int {
    let start = offset
    let value = try number()
    guard let count = Int(exactly: value), count <= remainingCount / least else { throw Failure(.number, at: start) }
    return count
  }

  mutating func text() throws(Failure) -> String {
    let count = try count(leastBytesEach: 1)
    // `count` bytes are left.
    let slice = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<offset &+ count])
    if unsafe MetadataReader.isASCII(slice) {
      offset &+= count
      // The string copies the slice.
      return unsafe String(decoding: slice, as: UTF8.self)
    }
    guard let text = unsafe String(validating: slice, as: UTF8.self) else { throw Failure(.text, at: offset) }
    offset &+= count
    return text
  }

  /// True if no byte has its highest bit set: such text is always valid UTF-8, and fast to convert.
  private static func isASCII(_ slice: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    // Loads are inside the slice: eight bytes, or one, are left.
    while index &+ 8 <= slice.count {
      let word = unsafe slice.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if word & 0x8080_8080_8080_8080 != 0 { return false }
      index &+= 8
    }
    while index < slice.count {
      if unsafe slice[index] >= 0x80 { return false }
      index &+= 1
    }
    return true
  }

  mutating func fields() throws(Failure) -> HTTPFields {
    let count = try count(leastBytesEach: 2)
    var fields: [HTTPField] = []
    fields.reserveCapacity(min(count, 32))
    for _ in 0..<count {
      fields.append(HTTPField(name: try name(), value: try text()))
    }
    return HTTPFields(fields)
  }

  private mutating func name() throws(Failure) -> HTTPFieldName {
    let start = offset
    let code = try number()
    if code == 0 { return HTTPFieldName(try text()) }
    guard let name = FieldNameTable.name(of: code) else { throw Failure(.number, at: start) }
    return name
  }

  mutating func variant() throws(Failure) -> CacheVariant {
    let key = try text()
    var names: [String] = []
    for _ in 0..<(try count(leastBytesEach: 1)) { names.append(try text()) }
    let selecting = try fields()
    var etag: String?
    switch try number() {
    case 0: break
    case 1: etag = try text()
    default: throw Failure(.number, at: offset)
    }
    return CacheVariant(key: key, names: names, selecting: selecting, etag: etag, date: try fixed())
  }

  /// Reads ranges and checks that they are not negative, in order and without overlap, so that their sum cannot
  /// overflow.
  mutating func ranges() throws(Failure) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var end = 0
    for _ in 0..<(try count(leastBytesEach: 2)) {
      let start = offset
      let lower = try int()
      let upper = try int()
      guard lower >= end, upper >= lower else { throw Failure(.ranges, at: start) }
      ranges.append(lower..<upper)
      end = upper
    }
    return ranges
  }

  mutating func length() throws(Failure) -> Int {
    let start = offset
    let value = try int()
    guard value >= 0 else { throw Failure(.ranges, at: start) }
    return value
  }

  func end() throws(Failure) {
    guard remainingCount == 0 else { throw Failure(.tail, at: offset) }
  }
}

/// Field names that are frequent in stored responses. Each is stored as a number: this is smaller, and no text must be
/// checked.
enum FieldNameTable {
  // The index in this list is part of the encoding: add names at the end only.
  private static let spellings = [
    "Accept-Ranges", "Age", "Allow", "Alt-Svc", "Cache-Control", "Connection", "Content-Disposition",
    "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Range",
    "Content-Security-Policy", "Content-Type", "Date", "ETag", "Expires", "Last-Modified", "Link", "Location",
    "Pragma", "Retry-After", "Server", "Set-Cookie", "Strict-Transport-Security", "Trailer", "Transfer-Encoding",
    "Vary", "Via", "Warning", "WWW-Authenticate", "X-Cache", "X-Content-Type-Options", "X-Frame-Options",
    "X-Powered-By", "X-Request-Id", "X-XSS-Protection", "Access-Control-Allow-Origin", "Access-Control-Allow-Headers",
    "Access-Control-Allow-Methods", "Access-Control-Expose-Headers", "Referrer-Policy", "Permissions-Policy",
    "Cross-Origin-Resource-Policy", "Cache-Status", "Cache-Groups", "Accept", "Accept-Encoding", "Accept-Language",
    "Authorization", "Cookie", "Origin", "User-Agent", "OData-Version", "DataServiceVersion", "Content-MD5", "Digest",
    "Server-Timing", "Timing-Allow-Origin", "X-Cache-Hits", "X-Served-By", "CF-Cache-Status", "CF-RAY", "X-Amz-Cf-Id",
  ]

  /// Two entries for each spelling: as listed, and in lower case.
  private static let names: [HTTPFieldName] = spellings.flatMap {
    [HTTPFieldName($0), HTTPFieldName(HTTPFieldName($0).canonicalName)]
  }

  private static let codes: [String: UInt64] = {
    var codes: [String: UInt64] = [:]
    for (index, name) in names.enumerated() { codes[name.rawName] = UInt64(index) + 1 }
    return codes
  }()

  /// The number of a name in exactly this spelling; nil if it has none.
  static func code(of name: HTTPFieldName) -> UInt64? { codes[name.rawName] }

  /// The name with a number.
  static func name(of code: UInt64) -> HTTPFieldName? {
    guard code > 0, code <= UInt64(names.count) else { return nil }
    return names[Int(code) - 1]
  }
}
