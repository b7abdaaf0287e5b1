import CLarderZlib
import LarderHTTP

/// Decodes one coding, step by step: bytes are added by ``feed(_:)``, content is returned by ``next()``, never more
/// than 64 KiB at once, and ``finish()`` throws if the coding had not ended.
///
/// gzip may have several members; each must be complete, with its CRC-32 and its length (RFC 1952 §2.2, §2.3.1). Only
/// zero bytes, with which some programs pad, may follow the last one. If other bytes were skipped as garbage, a member
/// whose first byte is damaged would be lost.
@safe final class Inflater {
  private enum Phase {
    /// Before the first byte, or in deflate's first two, which determine its format.
    case start
    case inMember
    /// After a complete member or stream.
    case afterMember
    /// In the bytes after the last member.
    case trailing
  }

  private static let outputSize = 64 << 10
  /// zlib's largest window, and the value to add for gzip.
  private static let window: Int32 = 15
  private static let gzip: Int32 = 16

  private let coding: ContentCoding
  private let stream: UnsafeMutablePointer<z_stream>
  private let output: UnsafeMutablePointer<UInt8>
  private var isReady = false
  private var phase = Phase.start
  private var input: [UInt8] = []
  private var offset = 0
  /// The last step filled its output: zlib may have more.
  private var isFull = false
  /// The number of bytes other than zero that may still follow the end: a server that strips the zlib header may leave
  /// the checksum.
  private var toleratedBytes = 0

  init(_ coding: ContentCoding) {
    self.coding = coding
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    unsafe output = .allocate(capacity: Inflater.outputSize)
  }

  deinit {
    if isReady { unsafe _ = inflateEnd(stream) }
    unsafe stream.deallocate()
    unsafe output.deallocate()
  }

  /// Adds encoded bytes.
  func feed(_ bytes: [UInt8]) {
    input = offset == input.count ? bytes : Array(input[offset...]) + bytes
    offset = 0
  }

  /// Returns the next content, never empty; `nil` if more bytes are needed first.
  func next() throws(HTTPTransportError) -> [UInt8]? {
    while true {
      switch phase {
      case .start: guard try begin() else { return nil }
      case .inMember:
        guard offset < input.count || isFull else { return nil }
        let content = try step()
        if !content.isEmpty { return content }
      case .afterMember:
        guard offset < input.count else { return nil }
        // A member's first byte (RFC 1952 §2.3.1).
        let isMember = coding == .gzip && input[offset] == 0x1F
        if isMember { try check(unsafe inflateReset(stream)) }
        phase = isMember ? .inMember : .trailing
      case .trailing:
        try skipTrailing()
        return nil
      }
    }
  }

  /// Ends the content. Call it when no more bytes follow and ``next()`` has returned `nil`. Empty content is complete.
  func finish() throws(HTTPTransportError) {
    switch phase {
    case .start where offset == input.count, .afterMember, .trailing: return
    case .start, .inMember: throw .connectionLost(reason: "the \(coding) content is truncated")
    }
  }

  /// Initializes zlib; false if the first bytes are not there yet.
  private func begin() throws(HTTPTransportError) -> Bool {
    var windowBits = Inflater.window + Inflater.gzip
    switch coding {
    case .gzip: guard offset < input.count else { return false }
    case .deflate:
      guard input.count - offset >= 2 else { return false }
      let (method, flags) = (Int(input[offset]), Int(input[offset + 1]))
      let isZlib = method & 0x0F == 8 && method >> 4 <= 7 && (method << 8 | flags) % 31 == 0  // RFC 1950 §2.2
      windowBits = isZlib ? Inflater.window : -Inflater.window
      toleratedBytes = isZlib ? 0 : 4
    }
    try check(unsafe larder_inflate_init(stream, windowBits))
    isReady = true
    phase = .inMember
    return true
  }

  private func step() throws(HTTPTransportError) -> [UInt8] {
    let available = UInt32(clamping: input.count - offset)
    let outputRoom = UInt32(Inflater.outputSize)
    var (unread, unused) = (available, outputRoom)
    let code = unsafe input.withUnsafeBufferPointer { bytes in
      let start = unsafe bytes.baseAddress.map { unsafe $0 + offset }
      return unsafe larder_inflate(stream, start, &unread, output, &unused)
    }
    offset += Int(available - unread)
    isFull = unused == 0
    if code == Z_STREAM_END {
      phase = .afterMember
      isFull = false
    } else if code != Z_BUF_ERROR {
      try check(code)
    } else if unread == available, available > 0, unused == outputRoom {
      throw .other("zlib makes no progress")
    }
    return unsafe Array(UnsafeBufferPointer(start: output, count: Int(outputRoom - unused)))
  }

  private func check(_ code: Int32) throws(HTTPTransportError) {
    switch code {
    case Z_OK: return
    case Z_MEM_ERROR: throw .other("zlib is out of memory")
    case Z_NEED_DICT: throw .protocolViolation("the \(coding) content needs a dictionary")
    case Z_DATA_ERROR:
      let reason = unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "no reason given"
      throw .protocolViolation("the \(coding) content is damaged: \(reason)")
    default: throw .other("zlib: \(code)")
    }
  }

  private func skipTrailing() throws(HTTPTransportError) {
    for byte in input[offset...] where byte != 0 {
      guard toleratedBytes > 0 else { throw .protocolViolation("unexpected bytes follow the \(coding) content") }
      toleratedBytes -= 1
    }
    offset = input.count
  }
}
