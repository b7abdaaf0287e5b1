import LarderHTTP

/// An event while a multipart batch is read, in the order of the content.
package enum BatchEvent: Sendable, Hashable {
  /// A change set begins; its messages follow.
  case changeSetBegan
  /// The head of a message; its content and ``messageEnded`` follow.
  case message(BatchMessage)
  /// A piece of the message's content, never empty.
  case content([UInt8])
  /// The message is complete.
  case messageEnded
  /// The change set is complete.
  case changeSetEnded
}

/// Reads a multipart batch, request or response, from chunks of any size: a state machine that buffers one line at
/// most.
///
/// Only boundaries delimit the contents. The reader accepts line ends of LF alone, text before the first boundary and
/// after the last, quoted boundaries, a byte order mark, missing and wrong lengths, Content-IDs in either place, a
/// change set without its last boundary, and a missing last boundary if the content before it is complete.
package struct MultipartBatchReader: Sendable {
  /// The states of the reader.
  enum State: Sendable {
    /// Before the first boundary of the innermost multipart: text is ignored. Exits: a boundary.
    case preamble
    /// In a part's MIME header. Exits: an empty line to `startLine`, or to the `preamble` of a change set.
    case partHeader
    /// Before the message's first line. Exits: that line.
    case startLine
    /// In the message's header fields. Exits: an empty line to `content`; a boundary ends the message.
    case messageHeader
    /// In the message's content. Exits: a boundary.
    case content
    /// After a change set's last boundary. Exits: a boundary of the batch.
    case betweenParts
    /// After the batch's last boundary: the rest is ignored.
    case epilogue
  }

  /// The message that is being read.
  struct Current: Sendable {
    var partFields: [HTTPField] = []
    var start: BatchMessage.Start?
    var fields: [HTTPField] = []
    var headerBytes = 0
    /// The content's length as the message declares it.
    var declared: Int?
    /// The content bytes read so far.
    var given = 0
    /// Line ends after the declared length: dropped if a boundary follows.
    var excess: [UInt8] = []
    /// Content that is not yet in an event.
    var pending: [UInt8] = []
  }

  let limits: BatchLimits
  var state = State.preamble
  /// The boundaries of the open multiparts; the batch's own is the first.
  var boundaries: [[UInt8]]
  var current = Current()
  /// Bytes that are not read yet, from `position` on.
  var buffer: [UInt8] = []
  var position = 0
  /// The number of bytes dropped from the front of the buffer.
  var base = 0
  /// The line end before a line that may be a boundary; it belongs to the boundary if it is one.
  var heldLineEnd: [UInt8] = []
  var isAtLineStart = true
  /// Whether the current line is ignored because it is too long for a boundary.
  var passesOverLine = false
  var isFinished = false
  /// The batch's last boundary was read.
  var isClosed = false
  var events: [BatchEvent] = []
  var partNumber = 0
  var memberNumber = 0
  var messages = 0

  /// Creates a reader.
  ///
  /// `contentType` is that of the batch; anything but a multipart throws
  /// ``BatchError/Problem/notABatch(contentType:)``.
  package init(contentType: String, limits: BatchLimits = BatchLimits()) throws(BatchError) {
    let type = MediaType(contentType)
    guard type.isMultipart else { throw BatchError(.notABatch(contentType: type.mediaType)) }
    let boundary = type["boundary"] ?? ""
    guard MediaType.isReadableBoundary(boundary) else { throw BatchError(.badBoundary(boundary)) }
    self.limits = limits
    boundaries = [Array(boundary.utf8)]
  }

  /// Reads a chunk and returns the events that it completed; after an error ``completed()`` returns those before the
  /// error.
  package mutating func read(_ chunk: [UInt8]) throws(BatchError) -> [BatchEvent] {
    if position == buffer.count { buffer = chunk } else { buffer.append(contentsOf: chunk) }
    try run()
    return completed()
  }

  /// Returns the events that were read before an error and not returned yet; empty without an error.
  package mutating func completed() -> [BatchEvent] {
    defer { events = [] }
    return events
  }

  /// Ends the content; throws ``BatchError/Problem/truncated`` if it ends inside a part.
  package mutating func finish() throws(BatchError) -> [BatchEvent] {
    isFinished = true
    try run()
    switch state {
    case .epilogue, .betweenParts: break
    case .content:
      // A line end that would have belonged to the missing boundary is after the declared length, and not content.
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

  /// Reads one step; false if more bytes are needed.
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
