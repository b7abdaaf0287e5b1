package import LarderOData

/// Reads one Atom or XML payload from chunks of bytes and reports its contents to a `PayloadHandler`.
///
/// Each row of a feed is reported as soon as it is complete, so memory is bounded by the largest row. The information
/// about the feed that follows its rows (count, next link, delta link) is reported after them.
///
///     let reader = AtomPayloadReader(options: AtomOptions(model: model), handler: handler)
///     for chunk in chunks { try reader.read(chunk) }
///     try reader.finish()
///
/// Errors are ``AtomError``, or the handler's own. After an error the reader cannot be used any more.
package final class AtomPayloadReader {
  private let reader: AtomReader
  private let sink: AtomEmittingSink

  /// Creates a reader for one payload.
  package init(options: AtomOptions = AtomOptions(), handler: any PayloadHandler) {
    sink = AtomEmittingSink(handler)
    reader = AtomReader(options: options, sink: sink)
  }

  /// Reads the next bytes.
  package func read(_ chunk: [UInt8]) throws { try rethrowing { () throws(AtomError) in try reader.read(chunk) } }

  /// Ends the payload: no bytes follow.
  package func finish() throws { try rethrowing { () throws(AtomError) in try reader.finish() } }

  /// Rethrows an error of the handler unchanged.
  private func rethrowing(_ body: () throws(AtomError) -> Void) throws {
    do { try body() } catch { throw sink.failure ?? error }
  }
}

/// A sink that reports each part to a handler at once.
private final class AtomEmittingSink: AtomSink {
  private let handler: any PayloadHandler
  private var emitter: PayloadEmitter
  private var context: String?
  private var isDelta = false
  private var hasBegun = false
  private(set) var failure: (any Error)?

  init(_ handler: any PayloadHandler) {
    self.handler = handler
    emitter = PayloadEmitter(handler)
  }

  func beginFeed(context: String?, isDelta: Bool) {
    self.context = context
    self.isDelta = isDelta
  }

  func row(_ row: AtomRow) throws {
    try attempt {
      switch row {
      case .entity(let entity):
        try begin(isDelta ? .delta : .collection)
        try emitter.emit(entity, nil)
      case .deletedEntity(let entity):
        try begin(.delta)
        try emitter.emit(entity, nil)
      case .link(let link, let isDeleted):
        try begin(.delta)
        try handler.link(link, isDeleted: isDeleted)
      case .reference(let reference):
        try begin(.references)
        try handler.reference(reference)
      }
    }
  }

  func endFeed(_ feed: AtomFeed) throws {
    try attempt {
      try begin(isDelta ? .delta : .collection)
      var rest = feed.collection
      rest.context = nil
      try emitter.emit(rest, on: nil)
      try handler.endPayload()
    }
  }

  func document(_ payload: ODataPayload) throws { try attempt { try emitter.emit(payload) } }

  /// Reports the begin of the payload. Its kind is known with the first row, and later parts cannot change it.
  private func begin(_ kind: PayloadKind) throws {
    guard !hasBegun else { return }
    hasBegun = true
    try handler.beginPayload(kind)
    try emitter.control(.context, context)
  }

  private func attempt(_ body: () throws -> Void) throws {
    do { try body() } catch {
      failure = error
      throw error
    }
  }
}
