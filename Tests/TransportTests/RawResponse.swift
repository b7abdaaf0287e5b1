import LarderHTTP
import LarderTestSupport

/// A response as bytes, made from a seed, and what a client is to make of it.
struct RawResponse: Sendable {
  /// What is to come; nil where the bytes were damaged, so that anything but a crash or a hang will do.
  struct Content: Sendable, Equatable {
    var status: Int
    var fields: [String]
    var content: [UInt8]
  }

  private(set) var bytes: [UInt8] = []
  private(set) var expected: Content?
  /// False where the connection can serve the next request.
  private(set) var closes = false
  /// Whether it is taken is up to libcurl.
  private var isDoubtful = false
  private var random: PrintedSeed

  init(seed: UInt64) {
    random = PrintedSeed(seed: seed)
    let interimCount = chance(5) ? number(1...3) : 0
    for _ in 0..<interimCount {
      bytes += "HTTP/1.1 \([100, 102, 103][number(0...2)]) \(chance(3) ? "" : "Early")\(end)".utf8
      _ = addFields(number(0...2))
      add("")
    }
    addFinal()
    if isDoubtful {
      expected = nil
      closes = true
    }
    if chance(3) { damage() }
  }

  /// The bytes with what cannot be seen written out, for a failure's message.
  var text: String {
    bytes.prefix(2000).map { (0x20..<0x7F).contains($0) ? String(UnicodeScalar($0)) : "\\x" + String($0, radix: 16) }
      .joined()
  }

  // MARK: What is right

  private mutating func addFinal() {
    let status = [200, 200, 200, 204, 299, 304, 404, 500][number(0...7)]
    add("HTTP/1.1 \(status) Some Reason")
    if chance(12) {
      // White space before the first field: dropped or rejected (RFC 9112 §2.2).
      add([" X-First: 1", "\tX-First: 1", "  ", "\t"][number(0...3)])
      expected = nil
      closes = true
      _ = addFields(2)
      return add("")
    }
    var fields = addFields(number(0...6))
    var content: [UInt8] = []
    if status != 204, status != 304 {
      content = (0..<[0, 1, 7, 300, 20_000][number(0...4)]).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      switch number(0...2) {
      case 0:
        add("Content-Length: \(content.count)")
        fields.append("Content-Length: \(content.count)")
        add("")
        bytes += content
      case 1:
        add("Transfer-Encoding: chunked")
        fields.append("Transfer-Encoding: chunked")
        add("")
        addChunks(content)
      default:
        closes = true
        add("")
        bytes += content
      }
    } else {
      add("")
    }
    expected = Content(status: status, fields: fields, content: content)
  }

  /// Adds lines; gives the fields that they are.
  private mutating func addFields(_ count: Int) -> [String] {
    var fields: [String] = []
    for index in 0..<count {
      if chance(8) {
        // No field: dropped, with what continues it, or rejected.
        isDoubtful = true
        add("no field at all")
        if chance(2) { add("  continued") }
        continue
      }
      var value = chance(6) ? "" : "v\(number(0...9999))"
      let space = [" ", "", "\t", "  \t "][number(0...3)]
      add("X-\(index)\(chance(8) ? " " : ""):\(space)\(value)\(chance(4) ? " \t" : "")")
      while chance(4) {
        let line = chance(3) ? "" : "more\(number(0...99))"
        add([" ", "\t", "   ", " \t "][number(0...3)] + line)
        if !line.isEmpty { value += (value.isEmpty ? "" : " ") + line }
      }
      fields.append("X-\(index): \(value)")
    }
    return fields
  }

  private mutating func addChunks(_ content: [UInt8]) {
    var rest = content[...]
    while !rest.isEmpty {
      let piece = rest.prefix(number(1...4096))
      rest = rest.dropFirst(piece.count)
      let size = (chance(4) ? "000" : "") + String(piece.count, radix: 16, uppercase: chance(2))
      bytes += "\(size)\(chance(4) ? ";name=\"value\"" : "")\r\n".utf8
      bytes += piece
      bytes += "\r\n".utf8
    }
    bytes += "0\r\n".utf8
    if chance(4) { bytes += "X-Trailer: 1\r\n \t\r\n folded\r\nX-More: 2\r\n".utf8 }
    bytes += "\r\n".utf8
  }

  private var end: String { "\r\n" }

  private mutating func add(_ line: String) { bytes += (line + (chance(10) ? "\n" : end)).utf8 }

  // MARK: What is not

  /// Changes bytes at random places; the connection ends behind them, so that a client need not wait for more.
  private mutating func damage() {
    expected = nil
    closes = true
    for _ in 0..<number(1...4) {
      guard !bytes.isEmpty else { return }
      // Most of what can go wrong is in the head.
      let place = chance(3) ? number(0...bytes.count - 1) : number(0...min(200, bytes.count - 1))
      switch number(0...7) {
      case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
      case 1: bytes.remove(at: place)
      case 2:
        bytes.insert(
          contentsOf: [[0x20], [0x09], [0], [0x0D], [0x0A], [0x0D, 0x0A], [0x3A]][number(0...6)], at: place)
      case 3: bytes.insert(contentsOf: "\r\n \r\n".utf8, at: place)
      case 4: bytes.removeLast(bytes.count - place)
      case 5: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 40)], at: place)
      case 6: bytes.insert(contentsOf: repeatElement(0x61, count: [1000, 20_000, 120_000][number(0...2)]), at: place)
      default:
        bytes.insert(contentsOf: Array(repeating: Array("A: b\r\n".utf8), count: number(1...3000)).joined(), at: place)
      }
    }
  }

  private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  /// True once in so many times.
  private mutating func chance(_ times: Int) -> Bool { number(1...times) == 1 }
}
