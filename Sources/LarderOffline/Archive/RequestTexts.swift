import LarderStorage

/// Texts by the numbers of requests, in one blob. A statement reads a text with `larder_text(blob, id)`, however many
/// there are.
///
/// The blob is bound without a copy, and the number of steps to find a text is the logarithm of their count. Statements
/// that run once for each request can therefore use it.
struct RequestTexts: Sendable {
  /// The layout: the number of texts (8 bytes); for each text its ID (8 bytes) and the offset of its end (8 bytes); the
  /// texts.
  private(set) var blob: [UInt8]

  private static let word = 8

  /// - Parameter texts: the texts by ID, in ascending order.
  init(_ texts: [(id: Int64, json: [UInt8])]) {
    blob = []
    blob.reserveCapacity((1 + 2 * texts.count) * Self.word + texts.reduce(0) { $0 + $1.json.count })
    append(Int64(texts.count))
    var end = 0
    for text in texts {
      end += text.json.count
      append(text.id)
      append(Int64(end))
    }
    for text in texts { blob += text.json }
  }

  private mutating func append(_ number: Int64) {
    for shift in stride(from: 0, to: 64, by: 8) { blob.append(UInt8(truncatingIfNeeded: number >> Int64(shift))) }
  }

  /// Returns the range of the text with an ID in a blob. Nil if there is no such text, or if the blob has another
  /// layout.
  static func place(of id: Int64, in blob: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
    guard let count = unsafe number(at: 0, in: blob), count >= 0, count <= blob.count / (2 * word) else { return nil }
    var (low, high) = (0, Int(count))
    while low < high {
      let middle = low + (high - low) / 2
      guard let entryID = unsafe number(at: 1 + 2 * middle, in: blob) else { return nil }
      if entryID == id {
        let texts = (1 + 2 * Int(count)) * word
        let start = middle == 0 ? 0 : unsafe number(at: 2 * middle, in: blob)
        guard let start, let end = unsafe number(at: 2 + 2 * middle, in: blob), start >= 0, start <= end,
          end <= blob.count - texts
        else { return nil }
        return texts + Int(start)..<texts + Int(end)
      }
      if entryID < id { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  private static func number(at place: Int, in blob: UnsafeBufferPointer<UInt8>) -> Int64? {
    let start = place * word
    guard start >= 0, start <= blob.count - word else { return nil }
    var number: UInt64 = 0
    for byte in (start..<start + word).reversed() { number = number << 8 | UInt64(unsafe blob[byte]) }
    return Int64(bitPattern: number)
  }
}

extension ReplicaSQL {
  /// `larder_text(blob, id)`: the text with an ID, or NULL if there is none.
  static let requestText = SQLFunction("larder_text", argumentCount: 2) {
    (arguments, result) throws(SQLFunctionError) in
    let blob = unsafe arguments.bytes(0)
    guard let place = unsafe RequestTexts.place(of: arguments.int64(1), in: blob) else { return }
    unsafe result.text(UnsafeBufferPointer(rebasing: blob[place]))
  }
}
