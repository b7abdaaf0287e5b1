/// Reads CSDL JSON (OData CSDL JSON Representation 4.01) into an ``EdmModel``, equal to the one that CSDL XML yields.
///
/// If JSON and XML have different defaults, the model contains the meaning in JSON: an omitted `$Nullable` is false
/// (§7.2.1), an omitted `$Type` is `Edm.String` (§7.1), an omitted `$Scale` of `Edm.Decimal` is variable (§7.2.4).
/// Positions in messages are JSON pointers.
package enum CSDLJSONReader {
  /// Reads a whole document.
  package static func read(
    _ bytes: [UInt8], limits: MetadataLimits = MetadataLimits()
  ) throws(MetadataError) -> EdmModel {
    guard bytes.count <= limits.documentByteLimit else {
      throw MetadataError(
        .tooLarge, "the document is longer than \(limits.documentByteLimit) bytes",
        cure: "Raise the limits if you trust the document", at: MetadataLocation(path: ""))
    }
    let root: JSONNode
    do {
      let bounds = JSONLimits(depth: limits.depthLimit, stringBytes: limits.tokenByteLimit)
      root = try JSONNode(
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes, limits: bounds,
        keepsRepeatedNames: true)
    } catch {
      throw metadataError(error, isEmpty: bytes.allSatisfy { $0 <= 0x20 })
    }
    guard case .object(let members) = root, isMetadata(members) else { throw notMetadata(root) }
    var reading = CSDLJSONReading()
    let model = reading.document(members)
    try model.checkInheritance()
    return model
  }

  private static func isMetadata(_ members: [JSONNode.Member]) -> Bool {
    members.contains { $0.name == "$Version" || $0.name == "$Reference" || $0.name == "$EntityContainer" }
  }

  private static func notMetadata(_ root: JSONNode) -> MetadataError {
    let kind: String
    if root["error"] != nil || root["odata.error"] != nil {
      kind = "an OData error"
    } else if root["@odata.context"] != nil || root["@context"] != nil || root["d"] != nil || root["value"] != nil {
      kind = "an OData payload, not metadata"
    } else {
      kind = "JSON without $Version"
    }
    return MetadataError(
      .notMetadata, "the document is \(kind)",
      cure: "Check that the URL ends in $metadata and the service responded with 200",
      at: MetadataLocation(line: 1, column: 1, path: ""))
  }

  private static func metadataError(_ error: JSONError, isEmpty: Bool) -> MetadataError {
    let location = MetadataLocation(line: error.line, column: error.column, path: "")
    if isEmpty {
      return MetadataError(
        .empty, "there is no content", cure: "Check that the URL ends in $metadata and the service responded with 200",
        at: location)
    }
    let (reason, cure): (MetadataError.Reason, String)
    switch error.problem {
    case .unexpectedEnd: (reason, cure) = (.truncated, "Read it again: the response was truncated")
    case .tooDeep: (reason, cure) = (.tooDeep, "Raise the limit on depth if you trust the document")
    case .tokenTooLong: (reason, cure) = (.tooLarge, "Raise the limits if you trust the document")
    case .notUTF8: (reason, cure) = (.notSupported, "Ask the service for UTF-8")
    default: (reason, cure) = (.malformed, "Report it to the service: the document is not valid JSON (RFC 8259)")
    }
    return MetadataError(reason, error.problem.description, cure: cure, at: location)
  }
}
