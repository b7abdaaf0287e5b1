import LarderHTTP

/// What a multipart batch is found to hold, in its order.
public enum BatchEvent: Sendable, Hashable {
  /// A change set begins; its messages follow.
  case changeSetBegan
  /// The head of a message; its content and ``messageEnded`` follow.
  case message(BatchMessage)
  /// A piece of the message's content, never empty.
  case content([UInt8])
  /// The message is whole.
  case messageEnded
  /// The change set is whole.
  case changeSetEnded
}

/// Reads a multipart batch, request or answer, from chunks of any size: a state machine that keeps one line at most.
///
/// Boundaries alone frame the contents. Taken as they come: line ends of LF alone, text before the first boundary and
/// behind the last, quoted boundaries, a byte order mark, missing and wrong lengths, Content-IDs in either place, a
/// change set whose last boundary is missing, and a missing last boundary where the content before it is whole.
public struct MultipartBatchReader: Sendable {
  /// Where the reader stands.
  enum State: Sendable {
    /// Before the first boundary of the innermost multipart: text is passed over. Exits: a boundary.
    case preamble
    /// In a part's MIME header. Exits: an empty line to `startLine`, or to the `preamble` of a change set.
    case partHeader
    /// Before the message's first line. Exits: that line.
    case startLine
    /// In the message's header fields. Exits: an empty line to `content`; a boundary ends the message.
    case messageHeader
    /// In the message's content. Exits: a boundary.
    case content
    /// Behind a change set's last boundary. Exits: a boundary of the batch.
    case betweenParts
    /// Behind the batch's last boundary: the rest is passed over.
    case epilogue
  }

  /// A message being read.
  struct Current: Sendable {
    var partFields: [HTTPField] = []
    var start: BatchMessage.Start?
    var fields: [HTTPField] = []
    var headerBytes = 0
    /// The content's length as the message says it.
    var declared: Int?
    /// Content bytes given out so far.
    var given = 0
    /// Line ends behind the declared length: dropped where a boundary follows.
    var excess: [UInt8] = []
    /// Content that no event holds yet.
    var pending: [UInt8] = []
  }

  let limits: BatchLimits
  var state = State.preamble
  /// The boundaries of the open multiparts, the batch's first.
  var boundaries: [[UInt8]]
  var current = Current()
  /// Bytes that are not read yet, from `position` on.
  var buffer: [UInt8] = []
  var position = 0
  /// Bytes dropped from the front of the buffer.
  var base = 0
  /// The line end before the line that may be a boundary; it belongs to the boundary if it is one.
  var heldLineEnd: [UInt8] = []
  var isAtLineStart = true
  /// True inside a line that is passed over because it is too long for a boundary.
  var passesOverLine = false
  var isFinished = false
  /// The batch's last boundary was read.
  var isClosed = false
  var events: [BatchEvent] = []
  var partNumber = 0
  var memberNumber = 0
  var messages = 0

  /// Starts reading.
  ///
  /// `contentType` is that of the batch; anything but a multipart throws ``BatchError/Problem/notABatch(contentType:)``.
  public init(contentType: String, limits: BatchLimits = BatchLimits()) throws(BatchError) {
    let type = MediaType(contentType)
    guard type.isMultipart else { throw BatchError(.notABatch(contentType: type.mediaType)) }
    let boundary = type["boundary"] ?? ""
    guard MediaType.isReadableBoundary(boundary) else { throw BatchError(.badBoundary(boundary)) }
    self.limits = limits
    boundaries = [Array(boundary.utf8)]
  }

  /// Reads a chunk and answers what it completed; after an error ``completed()`` has what came before it.
  public mutating func read(_ chunk: [UInt8]) throws(BatchError) -> [BatchEvent] {
    if position == buffer.count { buffer = chunk } else { buffer.append(contentsOf: chunk) }
    try run()
    return completed()
  }

  /// What was found before an error and not given out yet; empty where nothing was thrown.
  public mutating func completed() -> [BatchEvent] {
    defer { events = [] }
    return events
  }

  /// Tells that nothing follows; throws ``BatchError/Problem/truncated`` where the content ends inside a part.
  public mutating func finish() throws(BatchError) -> [BatchEvent] {
    isFinished = true
    try run()
    switch state {
    case .epilogue, .betweenParts: break
    case .content:
      // A line end that would have belonged to the missing boundary is behind the length, and no content.
      give(heldLineEnd[...])
      guard current.given == current.declared else { throw error(.truncated) }
      endMessage()
      if boundaries.count > 1 { events.append(.changeSetEnded) }
    default: throw error(.truncated)
    }
    state = .epilogue
    return completed()
  }

  private mutating func run() throws(BatchError) {
    while try step() {}
    base += position
    if position == buffer.count { buffer = [] } else { buffer.removeFirst(position) }
    position = 0
    flushContent()
  }

  /// One step; false where more bytes are needed.
  private mutating func step() throws(BatchError) -> Bool {
    switch state {
    case .epilogue:
      position = buffer.count
      return false
    case .content: return try contentStep()
    default:
      guard let line = try nextLine() else { return false }
      if base == 0, line.startIndex == 0, line.starts(with: [0xEF, 0xBB, 0xBF]) {
        try read(line: line.dropFirst(3))
      } else {
        try read(line: line)
      }
      return true
    }
  }

  func error(_ problem: BatchError.Problem) -> BatchError {
    let place = boundaries.count > 1 ? "\(partNumber).\(memberNumber)" : "\(partNumber)"
    return BatchError(problem, part: partNumber > 0 ? place : nil, offset: base + position)
  }
}
