import CLarderMicroHTTPD
@_spi(Stores) import LarderHTTP

/// The head of a request, checked.
struct RequestHead {
  var method: HTTPMethod
  var fields: HTTPFields
  var framing: Framing
  /// True if the client waits for 100 (Continue) before it sends its content.
  var expectsContinue: Bool
  /// True for HTTP/1.0.
  var isHTTP10: Bool

  /// How the content is delimited (RFC 9112 §6).
  enum Framing: Equatable {
    case none
    case length(Int)
    case chunked
  }
}

/// Why a request is rejected without calling a responder.
enum HeadRejection: Error, Equatable {
  case malformed(String)
  case contentTooLarge
  case targetTooLong
  case headTooLarge
  case unknownExpectation
  case unknownTransferCoding

  var status: Int {
    switch self {
    case .malformed: 400
    case .contentTooLarge: 413
    case .targetTooLong: 414
    case .headTooLarge: 431
    case .unknownExpectation: 417
    case .unknownTransferCoding: 501
    }
  }

  var text: String {
    switch self {
    case .malformed(let reason): "The request is malformed: \(reason).\n"
    case .contentTooLarge: "The content is larger than this server accepts.\n"
    case .targetTooLong: "The request target is longer than this server accepts.\n"
    case .headTooLarge: "The head of the request is larger than this server accepts.\n"
    case .unknownExpectation: "The only expectation that this server supports is 100-continue.\n"
    case .unknownTransferCoding: "The only transfer coding that this server supports is chunked.\n"
    }
  }
}

/// Reads a head out of libmicrohttpd's memory, and rejects what libmicrohttpd accepts by mistake.
///
/// libmicrohttpd replaces line ends and colons by zeros, in one buffer, and leaves the parts where they were received.
/// So the addresses show what was there: the name of a field begins exactly two zeros after the value before it, unless
/// a line ended in a line feed alone, contained NUL, or was folded. libmicrohttpd joins folded lines elsewhere.
struct HeadReader {
  private var fields: [HTTPField]
  private var rejection: HeadRejection?
  /// The address at which the next field's name must begin.
  private var expectedAddress: UInt
  private let start: UInt

  private var lengths = 0
  private var length: Int?
  private var codings = 0
  private var isChunked = false
  private var hosts = 0
  private var expectsContinue = false

  private let method: HTTPMethod
  private let isHTTP10: Bool

  /// About how many fields a browser sends.
  private static let typicalFieldCount = 16

  /// Reads the request line's parts as libmicrohttpd passes them; `target` is a copy of the text as it was sent.
  init(method: UnsafePointer<CChar>, target: String, version: UnsafePointer<CChar>, targetByteLimit: Int) {
    let methodLength = unsafe HeadReader.length(method)
    unsafe self.method = HeadReader.method(method, methodLength)
    fields = []
    fields.reserveCapacity(HeadReader.typicalFieldCount)
    // "HTTP/1.0"
    unsafe isHTTP10 = version[7] == 0x30
    start = UInt(bitPattern: method)
    expectedAddress = UInt(bitPattern: version) + 8 + 2
    let isTight = start + UInt(methodLength + 1 + target.utf8.count + 1) == UInt(bitPattern: version)
    if !isTight {
      rejection = .malformed("the request line contains NUL, or white space other than two single spaces")
    } else if target.utf8.count > targetByteLimit {
      rejection = .targetTooLong
    } else if target.isEmpty || !target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
      rejection = .malformed("the target contains characters that are not allowed in a URI")
    } else if !self.method.rawValue.utf8.allSatisfy(HTTPFieldName.isTokenByte) {
      rejection = .malformed("the method is not a token")
    }
  }

  /// Reads the next field. Its two texts end in zeros.
  mutating func addField(
    name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) {
    guard rejection == nil, let nameStart = name.baseAddress, let valueStart = value.baseAddress else { return }
    guard UInt(bitPattern: nameStart) == expectedAddress else {
      rejection = .malformed("a field line is folded, contains NUL, or does not end with CR LF")
      return
    }
    expectedAddress = UInt(bitPattern: valueStart) + UInt(value.count) + 2
    guard let fieldName = unsafe FieldNames.name(name) else {
      rejection = .malformed("the name of a field is not a token")
      return
    }
    guard let text = unsafe HeadReader.text(value) else {
      rejection = .malformed("the value of a field contains control characters")
      return
    }
    // libmicrohttpd recognises the coding only by its exact bytes, which include white space after it.
    if fieldName.canonicalName == "transfer-encoding", value.count != text.utf8.count {
      rejection = .unknownTransferCoding
      return
    }
    recordFraming(fieldName, text)
    fields.append(HTTPField(name: fieldName, value: text))
  }

  private mutating func recordFraming(_ name: HTTPFieldName, _ value: String) {
    // The lengths of most names show that they need no check.
    switch name.canonicalName.utf8.count {
    case 4, 6, 14, 17: break
    default: return
    }
    switch name.canonicalName {
    case "host":
      hosts += 1
      if !value.utf8.allSatisfy(isHostByte) { rejection = .malformed("Host is not a host with an optional port") }
    case "content-length":
      lengths += 1
      length = Int(value)
      if length == nil || !value.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) {
        rejection = .malformed("Content-Length is not a number")
      }
    case "transfer-encoding":
      codings += 1
      isChunked = value.utf8.count == 7 && value.lowercased() == "chunked"
    case "expect":
      if value.lowercased() == "100-continue" { expectsContinue = !isHTTP10 } else { rejection = .unknownExpectation }
    default: break
    }
  }

  /// Returns the head, after all fields were read.
  ///
  /// - Parameter size: the size of the whole head in bytes.
  consuming func head(size: Int, headByteLimit: Int, contentByteLimit: Int) -> Result<RequestHead, HeadRejection> {
    if let rejection { return .failure(rejection) }
    if size > headByteLimit || fields.count > headByteLimit / 128 { return .failure(.headTooLarge) }
    // The empty line's two zeros end the head.
    guard start + UInt(size) == expectedAddress + 2 else {
      return .failure(.malformed("a field line is folded, contains NUL, or does not end with CR LF"))
    }
    if hosts > 1 || (hosts == 0 && !isHTTP10) { return .failure(.malformed("it must have exactly one Host field")) }
    if lengths > 1 { return .failure(.malformed("it has several Content-Length fields")) }
    if codings > 0 && (lengths > 0 || isHTTP10 || codings > 1) {
      return .failure(.malformed("Transfer-Encoding is duplicated or not allowed here"))
    }
    if codings > 0 && !isChunked { return .failure(.unknownTransferCoding) }
    var framing = RequestHead.Framing.none
    if isChunked {
      framing = .chunked
    } else if let length, length > 0 {
      if length > contentByteLimit { return .failure(.contentTooLarge) }
      framing = .length(length)
    }
    // libmicrohttpd would send 100 (Continue), and then read the next request as content.
    if expectsContinue && framing == .none {
      return .failure(.malformed("it expects 100 (Continue) but has no content"))
    }
    return .success(
      RequestHead(
        method: method, fields: HTTPFields(fields), framing: framing,
        expectsContinue: expectsContinue, isHTTP10: isHTTP10))
  }

  private static func length(_ text: UnsafePointer<CChar>) -> Int {
    var count = 0
    while unsafe text[count] != 0 { count += 1 }
    return count
  }

  private static func method(_ text: UnsafePointer<CChar>, _ count: Int) -> HTTPMethod {
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: count)
    if unsafe bytes.elementsEqual("GET".utf8) { return .get }
    if unsafe bytes.elementsEqual("HEAD".utf8) { return .head }
    return unsafe HTTPMethod(rawValue: String(decoding: bytes, as: UTF8.self))
  }

  /// A value without trailing white space (leading white space is removed already). Nil for control characters other
  /// than the tab (RFC 9110 §5.5).
  private static func text(_ value: UnsafeRawBufferPointer) -> String? {
    var count = value.count
    while unsafe count > 0 && (value[count - 1] == 0x20 || value[count - 1] == 0x09) { count -= 1 }
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: value[..<count])
    var isASCII = true
    for index in 0..<count {
      let byte = unsafe bytes[index]
      if (byte < 0x20 && byte != 0x09) || byte == 0x7F { return nil }
      if byte > 0x7F { isASCII = false }
    }
    return unsafe isASCII ? String(decoding: bytes, as: UTF8.self) : HTTPField.text(of: bytes)
  }
}

/// Whether a byte may be in a host with a port (RFC 3986 §3.2.2 and §3.2.3).
private func isHostByte(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
  // The bytes of names and of their percent-encoding, then those of addresses and ports.
  case 0x21, 0x24...0x2E, 0x3B, 0x3D, 0x5F, 0x7E, 0x3A, 0x5B, 0x5D: true
  default: false
  }
}

/// Field names that clients send often, created once.
enum FieldNames {
  /// The name in these bytes; nil if they are not a token.
  static func name(_ bytes: UnsafeRawBufferPointer) -> HTTPFieldName? {
    guard unsafe !bytes.isEmpty else { return nil }
    if let name = unsafe table[slot(bytes)], unsafe name.rawName.utf8.elementsEqual(bytes) { return name }
    guard unsafe bytes.allSatisfy(HTTPFieldName.isTokenByte) else { return nil }
    return unsafe HTTPFieldName(String(decoding: bytes, as: UTF8.self))
  }

  /// One name for each slot; if two names have the same slot, the first stays.
  private static let table: [HTTPFieldName?] = makeTable()

  private static func makeTable() -> [HTTPFieldName?] {
    var table = [HTTPFieldName?](repeating: nil, count: 256)
    for name in common {
      let bytes = Array(name.utf8)
      let index = unsafe bytes.withUnsafeBytes { unsafe slot($0) }
      if table[index] == nil { table[index] = HTTPFieldName(name) }
    }
    return table
  }

  private static func slot(_ bytes: UnsafeRawBufferPointer) -> Int {
    let first = unsafe Int(bytes[0])
    let last = unsafe Int(bytes[bytes.count - 1])
    return (bytes.count &* 31 &+ first &* 7 &+ last &* 3) & 0xFF
  }

  private static let common = [
    "Host", "User-Agent", "Accept", "Accept-Encoding", "Accept-Language", "Connection", "Cache-Control", "Pragma",
    "Cookie", "Authorization", "Referer", "Origin", "Range", "If-None-Match", "If-Modified-Since", "If-Match",
    "If-Range", "Content-Type", "Content-Length", "Transfer-Encoding", "Expect", "Upgrade-Insecure-Requests",
    "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-Dest", "host", "user-agent", "accept", "accept-encoding",
    "accept-language", "connection", "cache-control", "pragma", "cookie", "authorization", "referer", "origin", "range",
    "if-none-match", "if-modified-since", "content-type", "content-length", "sec-fetch-mode",
  ]
}
