package import LarderCore

/// Writes request bodies in JSON: entities to create or change, references, parameters, single properties.
///
/// Members that a request cannot contain (ETags, links of the service, counts) are left out; a member that the format
/// does not support is an error. Errors are ``ODataPayloadWritingError``.
package struct ODataPayloadWriter: Sendable {
  /// The version of the message: it determines the spellings, and how entities are bound.
  package let version: ODataVersion
  /// The JSON format of values.
  package let format: ODataJSONFormat
  /// Whether control information is written without `odata.`, as 4.01 allows.
  package let isShort: Bool
  /// The model, which determines which navigation properties are collections, and which properties are dynamic.
  /// Optional.
  package let model: EdmModel?

  /// Creates a writer for a version.
  ///
  /// `format` is by default that of the version: verbose for V2 and V3, V4 JSON for the later ones. `isShort` applies
  /// only to 4.01, where it is the default.
  package init(version: ODataVersion, format: ODataJSONFormat? = nil, isShort: Bool = true, model: EdmModel? = nil) {
    self.version = version
    self.format = format ?? (version == .v3 ? .verbose : ODataJSONFormat(version: version))
    self.isShort = isShort && version == .v401
    self.model = model
  }

  /// The media type of the written body, for `Content-Type`.
  package var mediaType: String {
    switch format {
    case .verbose: version == .v3 ? "application/json;odata=verbose" : "application/json"
    case .light: "application/json;odata=minimalmetadata"
    case .v4(let isCompatible): isCompatible ? "application/json;IEEE754Compatible=true" : "application/json"
    }
  }

  /// Writes an entity to create or change (JSON Format 4.01 §8.5; V2 JSON, "Representing Entries"): its properties,
  /// bindings and inline entities (deep insert). `type` is the declared type, if the entity does not name its own; it
  /// is used to look up properties and is not written.
  package func entity(_ entity: ODataEntity, type: String? = nil) throws(ODataPayloadWritingError) -> [UInt8] {
    var run = Run(writer: self)
    try run.entity(entity, type: type, isNested: false)
    return run.json.bytes
  }

  /// Writes a reference to an entity, for `$ref` and `$links` (JSON Format 4.01 §14; V2 JSON, "Representing Links").
  package func reference(_ id: String) -> [UInt8] {
    var run = Run(writer: self)
    run.reference(id)
    return run.json.bytes
  }

  /// Writes the parameters of an action, or several properties: members of one object (JSON Format 4.01 §18). `types` are
  /// the declared types by name.
  package func parameters(
    _ parameters: [ODataProperty], types: [String: EdmTypeReference] = [:]
  ) throws(ODataPayloadWritingError) -> [UInt8] {
    try self.parameters(ODataEntity(properties: parameters), types: types)
  }

  /// Writes the parameters of an action, among them entities: the links of `parameters`.
  package func parameters(
    _ parameters: ODataEntity, types: [String: EdmTypeReference]
  ) throws(ODataPayloadWritingError) -> [UInt8] {
    var run = Run(writer: self)
    try run.parameters(parameters, types: types)
    return run.json.bytes
  }

  /// Writes a single property, for PUT or PATCH to its URL. V4: `{"value": …}`, with complex values in the outermost
  /// object; before V4: `{"Name": …}` (JSON Format 4.01 §11).
  package func property(
    _ property: ODataProperty, type: EdmTypeReference? = nil
  ) throws(ODataPayloadWritingError) -> [UInt8] {
    var run = Run(writer: self)
    if case .complex(var complex) = property.value, format.dialect == .v4 {
      complex.annotations += property.annotations
      try run.value(.complex(complex), property.name, type: type)
      return run.json.bytes
    }
    try run.single(property, type: type)
    return run.json.bytes
  }
}

/// The error of a request body that could not be written, with the part concerned.
package struct ODataPayloadWritingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of problems.
  package enum Problem: Sendable, Hashable {
    /// The format has no spelling for a value.
    case value(ODataValueError)
    /// A feature that the version does not have; the text names it and the cure.
    case notSupported(String)
    /// Entities are nested deeper than the limit.
    case tooDeep(limit: Int)
  }

  /// The problem.
  package var problem: Problem
  /// The position: names from the outermost entity on, joined by `/`.
  package var path: String

  /// The problem and its position.
  package var description: String {
    let place = path.isEmpty ? "" : " at \(path)"
    return switch problem {
    case .value(let error): "\(error)\(place)"
    case .notSupported(let what): "not supported: \(what)\(place)"
    case .tooDeep(let limit): "entities are nested deeper than \(limit)\(place)"
    }
  }
}

extension ODataPayloadWritingError: LarderError {
  /// The stable number, from 1 in the order of the problems.
  package var errorIdentity: ErrorIdentity {
    switch problem {
    case .value: ErrorIdentity(1, "value", .invalidInput)
    case .notSupported: ErrorIdentity(2, "notSupported", .notSupported)
    case .tooDeep: ErrorIdentity(3, "tooDeep", .limit)
    }
  }

  /// The problem and its position, in sentences.
  package var explanation: ErrorExplanation {
    ErrorExplanation(
      "The request's content cannot be written: \(self)",
      cure: path.isEmpty ? "Change the value." : "Change the value of \(path).")
  }
}
