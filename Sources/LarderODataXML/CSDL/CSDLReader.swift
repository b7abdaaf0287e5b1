package import LarderOData

/// Reads CSDL XML of all versions (EDMX 1.0 to 4.01) in one streaming pass: bytes in, `EdmModel` out.
///
/// Push the document in chunks of any size, then call ``finish()``. Problems that do not prevent reading are added to
/// the model's diagnostics; all others throw `MetadataError` with line, column and element path. Use a reader for one
/// document and in one task; after an error it throws that error again.
package final class CSDLReader {
  private let limits: MetadataLimits
  private let reading = CSDLReading()
  private var parser: XMLPushParser?

  /// Creates a reader for one document.
  package init(limits: MetadataLimits = MetadataLimits()) { self.limits = limits }

  /// Parses the next bytes.
  package func push(_ bytes: [UInt8]) throws(MetadataError) {
    try attempt { try $0.push(bytes) }
  }

  /// Ends the document and returns the model.
  package func finish() throws(MetadataError) -> EdmModel {
    try attempt { try $0.finish() }
    let model = EdmModel(
      version: reading.version ?? .v2, dataServiceVersion: reading.dataServiceVersion,
      maxDataServiceVersion: reading.maxDataServiceVersion, references: reading.references,
      schemas: reading.schemas, diagnostics: reading.diagnostics)
    try model.checkInheritance()
    return model
  }

  private func attempt(_ body: (XMLPushParser) throws -> Void) throws(MetadataError) {
    do {
      let parser: XMLPushParser
      if let present = self.parser {
        parser = present
      } else {
        let bounds = XMLLimits(
          documentByteLimit: limits.documentByteLimit, tokenByteLimit: limits.tokenByteLimit, depth: limits.depthLimit)
        parser = try XMLPushParser(handler: reading, limits: bounds)
        self.parser = parser
      }
      try body(parser)
    } catch let error as MetadataError {
      throw error
    } catch let failure as XMLFailure {
      throw CSDLReader.error(failure, path: reading.path)
    } catch {
      throw MetadataError(
        .malformed, "\(error)", cure: "Check the document", at: MetadataLocation(path: reading.path))
    }
  }

  private static func error(_ failure: XMLFailure, path: String) -> MetadataError {
    let location = MetadataLocation(line: failure.line, column: failure.column, path: path)
    let (reason, cure): (MetadataError.Reason, String)
    switch failure.reason {
    case .empty:
      (reason, cure) = (.empty, "Check that the URL ends in $metadata and that the service responded with 200")
    case .malformed:
      (reason, cure) = (.malformed, "Report it to the service: the document is not well-formed XML")
    case .truncated:
      (reason, cure) = (.truncated, "Read it again: the response was truncated")
    case .documentType(let name) where name.lowercased() == "html":
      return MetadataError(
        .notMetadata, "the document is an HTML page",
        cure: "Check the URL and the credentials: services often respond with a log-in page", at: location)
    case .documentType:
      (reason, cure) = (.documentTypeRejected, "Ask for a document without DOCTYPE: CSDL needs none")
    case .tooDeep:
      (reason, cure) = (.tooDeep, "Raise the limit on depth if you trust the document")
    case .tooLong, .tokenTooLong:
      (reason, cure) = (.tooLarge, "Raise the limits if you trust the document")
    case .encoding:
      (reason, cure) = (.notSupported, "Ask the service for UTF-8")
    }
    return MetadataError(reason, failure.message, cure: cure, at: location)
  }
}
