/// The options of a payload reader.
package struct PayloadOptions: Sendable {
  /// The service's model, which determines the types of values. Without one, values have the types of JSON.
  package var model: EdmModel?
  /// The kind of payload, if the caller knows it from the request. It is used if the payload is ambiguous.
  package var expected: PayloadKind?
  /// The type of the entity, of the rows, or of the value, if the caller knows it. The payload's context and its own
  /// type information take precedence.
  package var expectedType: EdmTypeReference?
  /// The dialect that the message's headers name; that of the payload takes precedence.
  package var dialect: ODataDialect?
  /// The protocol version of the service, if the caller knows it: a payload in the envelope of another version is
  /// rejected. Nil accepts any.
  package var protocolVersion: ODataVersion?
  /// The `charset` of the media type; used only for bytes that are not UTF-8.
  package var charset: String?
  /// The largest object that is read, in bytes: one row, or a payload without rows. 64 MiB by default.
  package var maximumObjectBytes = 64 << 20
  /// The depth of nested brackets. 100 by default: some thirty levels of expanded entities in V2, fifty in V4, and low
  /// enough for the stack of any thread.
  package var maximumDepth = 100

  /// Creates options for a model.
  package init(model: EdmModel? = nil, expected: PayloadKind? = nil, expectedType: EdmTypeReference? = nil) {
    self.model = model
    self.expected = expected
    self.expectedType = expectedType
  }
}

/// Reads one JSON payload of any version from chunks of bytes and reports its contents to a ``PayloadHandler``.
///
/// Each row of a collection is reported as soon as it is complete, so memory is bounded by the largest row. Everything
/// else in the payload, around and between the rows, is reported or rejected with its position; nothing is ignored
/// silently. Bytes that are not in UTF-8 are read too (``JSONTranscoder``); positions of errors are those of the text
/// in UTF-8.
///
///     var reader = JSONPayloadReader(options: PayloadOptions(model: model))
///     for chunk in chunks { try reader.read(chunk, into: handler) }
///     try reader.finish(into: handler)
///
/// Errors are ``PayloadError``, or errors that the handler throws. After an error, the reader cannot be used.
package struct JSONPayloadReader {
  enum Stage {
    /// Before the rows, or in a payload without rows; all its tokens are on the tape.
    case opening
    /// In the array of rows.
    case rows
    /// After the rows.
    case closing
    /// After an error that the service wrote into the stream; its text is collected.
    case broken
  }

  let options: PayloadOptions
  private var transcoder: JSONTranscoder
  private var buffer: [UInt8] = []
  var lexer: JSONLexer
  var walker: PayloadWalker
  var stage = Stage.opening
  /// The kind of the payload and the type of its rows, once the rows begin.
  var kind: PayloadKind?
  var member = PayloadTypes.Member.undeclared
  var context: ContextURL?
  /// The path of the tape's first entry.
  var pathPrefix = "$"
  var rowCount = 0
  private var rowDepth = 0
  /// The members before the rows, while only the first row can show the kind of the payload.
  var opening: OpeningMembers?
  private var errorText: [UInt8] = []
  private var streamErrorPlace = (offset: 0, path: "$")

  private static let sliceBytes = 1 << 20

  /// Creates a reader.
  package init(options: PayloadOptions = PayloadOptions()) {
    self.options = options
    transcoder = JSONTranscoder(charset: options.charset)
    lexer = JSONLexer(limits: JSONLimits(depth: options.maximumDepth, stringBytes: options.maximumObjectBytes))
    walker = PayloadWalker(model: options.model)
    if let dialect = options.dialect { walker.dialect = dialect }
  }

  /// The number of buffered bytes: of an incomplete row or value, and of the last chunk.
  var bufferedBytes: Int { buffer.count }

  /// Reads the next bytes.
  package mutating func read(_ chunk: [UInt8], into handler: any PayloadHandler) throws {
    try read(utf8: transcoder.read(chunk), handler)
  }

  private mutating func read(utf8 chunk: [UInt8], _ handler: any PayloadHandler) throws {
    var start = 0
    while start < chunk.count {
      let end = min(start + JSONPayloadReader.sliceBytes, chunk.count)
      try take(chunk[start..<end])
      try process(isFinal: false, handler)
      start = end
    }
  }

  /// Ends the payload, and reports the remaining events to the handler.
  package mutating func finish(into handler: any PayloadHandler) throws {
    try read(utf8: transcoder.finish(), handler)
    try process(isFinal: true, handler)
    if stage == .broken { throw streamError() }
  }

  private mutating func take(_ bytes: ArraySlice<UInt8>) throws(PayloadError) {
    let free = walker.tape.isEmpty ? lexer.position : min(Int(walker.tape[0].start), lexer.position)
    if free > 0 {
      buffer.removeSubrange(0..<free)
      lexer.advance(by: free)
      walker.tape.advance(by: free)
    }
    guard buffer.count <= options.maximumObjectBytes else {
      throw PayloadError(
        .objectTooLarge(limit: options.maximumObjectBytes), offset: lexer.base,
        path: stage == .rows ? "\(pathPrefix)[\(rowCount)]" : pathPrefix)
    }
    buffer.append(contentsOf: bytes)
  }

  private mutating func process(isFinal: Bool, _ handler: any PayloadHandler) throws {
    let bytes = buffer
    buffer = []
    defer { buffer = bytes }
    try bytes.withUnsafeBufferPointer { bytes in
      do {
        try step(PayloadWalker.Source(bytes: bytes, handler: handler), isFinal: isFinal)
      } catch let error as JSONError {
        try handleLexicalError(error, bytes, isFinal: isFinal)
      } catch let problem as PayloadError.Problem {
        throw errorAtCurrentEntry(problem, bytes)
      } catch let error as ODataValueError {
        throw errorAtCurrentEntry(.invalidValue(error.description), bytes)
      }
    }
  }

  /// Processes the available tokens.
  private mutating func step(_ source: PayloadWalker.Source, isFinal: Bool) throws {
    if stage == .broken { return appendErrorText(source.bytes) }
    while let token = try lexer.next(source.bytes, isFinal: isFinal) {
      if stage == .rows, token.kind == .endArray, lexer.depth < rowDepth {
        try endRows(source)
        continue
      }
      walker.tape.append(token)
      switch stage {
      case .rows:
        guard lexer.depth == rowDepth else { continue }
        try row(source)
        walker.tape.removeAll()
        rowCount += 1
      case .opening:
        if token.kind == .beginArray, lexer.depth <= 3, try beginRows(source) {
          walker.tape.removeAll()
          rowDepth = lexer.depth
          stage = .rows
        } else if lexer.isComplete {
          try readDocument(source)
          walker.tape.removeAll()
          stage = .closing
        }
      case .closing:
        if lexer.isComplete {
          try readClosing(source)
          walker.tape.removeAll()
        }
      case .broken: break
      }
    }
  }

  private func errorAtCurrentEntry(_ problem: PayloadError.Problem, _ bytes: UnsafeBufferPointer<UInt8>) -> PayloadError
  {
    let tape = walker.tape
    guard !tape.isEmpty else { return PayloadError(problem, offset: lexer.base + lexer.position, path: pathPrefix) }
    let index = min(walker.current, tape.count - 1)
    let prefix = stage == .rows ? "\(pathPrefix)[\(rowCount)]" : stage == .closing && rowCount > 0 ? "$" : pathPrefix
    return PayloadError(
      problem, offset: lexer.base + Int(tape[index].start), path: tape.path(index, prefix: prefix, in: bytes))
  }

  /// Handles bytes that are not JSON: an error, unless the service aborted the response with its own error.
  private mutating func handleLexicalError(_ error: JSONError, _ bytes: UnsafeBufferPointer<UInt8>, isFinal: Bool)
    throws
  {
    let place = error.offset - lexer.base
    let prefix = stage == .rows ? "\(pathPrefix)[\(rowCount)]" : pathPrefix
    let path = walker.tape.path(walker.tape.count, prefix: prefix, in: bytes)
    if place >= 0, place < bytes.count {
      let marker = "odata-error:"
      let head = String(decoding: bytes[place..<min(place + 12, bytes.count)], as: UTF8.self).lowercased()
      if head == marker {
        stage = .broken
        streamErrorPlace = (error.offset, path)
        lexer.position = place + 12
        return appendErrorText(bytes)
      }
      if marker.hasPrefix(head), !isFinal { return }
    }
    throw PayloadError(.json(error.problem), offset: error.offset, path: path)
  }

  private mutating func appendErrorText(_ bytes: UnsafeBufferPointer<UInt8>) {
    let room = (1 << 20) - errorText.count
    errorText.append(contentsOf: bytes[lexer.position...].prefix(max(0, room)))
    lexer.position = bytes.count
    walker.tape.removeAll()
  }

  private func streamError() -> PayloadError {
    let text = String(decoding: errorText, as: UTF8.self)
    var error = ODataErrorPayload(code: "", message: text)
    if let node = try? JSONNode(errorText), let payload = try? ODataErrorPayload(node: node["error"] ?? node) {
      error = payload
    }
    return PayloadError(.inStreamError(error), offset: streamErrorPlace.offset, path: streamErrorPlace.path)
  }
}
