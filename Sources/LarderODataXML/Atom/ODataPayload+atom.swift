package import LarderOData

extension ODataPayload {
  /// Reads an Atom or XML payload of any version: entry, feed, tombstones, property, references, service document,
  /// error ([MS-ODATA] §2.2.6; OData Atom Format 4.0).
  ///
  /// - Parameters:
  ///   - bytes: the whole document.
  ///   - model: the service's model. It provides the types of values whose elements name none, and the properties that
  ///     are mapped to Atom.
  ///   - type: the qualified type of the entity, of the rows, or of the value, if the caller knows it.
  package init(atom bytes: [UInt8], model: EdmModel? = nil, type: String? = nil) throws(AtomError) {
    let sink = AtomCollector()
    var options = AtomOptions(model: model)
    options.expectedType = type.map { EdmTypeReference($0) }
    let reader = AtomReader(options: options, sink: sink)
    try reader.read(bytes)
    try reader.finish()
    guard let payload = sink.payload else { throw AtomError(.empty, line: 1, column: 1, path: "") }
    self = payload
  }
}

/// The options of an Atom reader.
package struct AtomOptions: Sendable {
  /// The service's model.
  package var model: EdmModel?
  /// The type of the entity, of the rows, or of the value, if the caller knows it.
  package var expectedType: EdmTypeReference?
  /// The longest document, in bytes. 1 GiB by default, as the reader does not keep rows.
  package var documentByteLimit = 1 << 30
  /// The longest tag, in bytes.
  package var tokenByteLimit = 8 << 20
  /// The largest depth of nested elements: enough for some thirty levels of inline entities, and low enough for the
  /// smallest stacks.
  package var depth = 128

  /// Options for a model.
  package init(model: EdmModel? = nil) { self.model = model }
}

/// Reads one document from chunks of bytes into a sink.
final class AtomReader {
  private let options: AtomOptions
  private let reading: AtomReading
  private var parser: XMLPushParser?

  init(options: AtomOptions, sink: any AtomSink) {
    self.options = options
    reading = AtomReading(types: AtomTypes(model: options.model), expected: options.expectedType, sink: sink)
  }

  /// Takes the next bytes.
  func read(_ bytes: [UInt8]) throws(AtomError) { try attempt { try $0.push(bytes) } }

  /// Ends the document.
  func finish() throws(AtomError) { try attempt { try $0.finish() } }

  private func attempt(_ body: (XMLPushParser) throws -> Void) throws(AtomError) {
    do {
      let parser: XMLPushParser
      if let present = self.parser {
        parser = present
      } else {
        let limits = XMLLimits(
          documentByteLimit: options.documentByteLimit, tokenByteLimit: options.tokenByteLimit, depth: options.depth)
        parser = try XMLPushParser(handler: reading, limits: limits)
        self.parser = parser
      }
      try body(parser)
    } catch let error as AtomError {
      throw error
    } catch let failure as XMLFailure {
      throw AtomError(AtomReader.problem(failure), line: failure.line, column: failure.column, path: reading.path)
    } catch {
      throw AtomError(.malformed("\(error)"), line: 0, column: 0, path: reading.path)
    }
  }

  private static func problem(_ failure: XMLFailure) -> AtomError.Problem {
    switch failure.reason {
    case .empty: .empty
    case .malformed: .malformed(failure.message)
    case .truncated: .truncated
    case .documentType: .documentTypeRejected
    case .tooDeep(let limit): .tooDeep(limit: limit)
    case .tooLong(let limit), .tokenTooLong(let limit): .tooLarge(limit: limit)
    case .encoding: .unsupportedEncoding
    }
  }
}

/// A sink that collects everything into one payload.
final class AtomCollector: AtomSink {
  private(set) var payload: ODataPayload?
  private var rows: [AtomRow] = []
  private var isDelta = false

  func beginFeed(context: String?, isDelta: Bool) { self.isDelta = isDelta }
  func row(_ row: AtomRow) { rows.append(row) }
  func document(_ payload: ODataPayload) { self.payload = payload }

  func endFeed(_ feed: AtomFeed) {
    var feed = feed
    feed.rows = rows
    rows = []
    if let references = feed.references {
      payload = .references(references)
    } else {
      payload = isDelta || feed.isDelta ? .delta(feed.delta) : .collection(feed.collection)
    }
  }
}
