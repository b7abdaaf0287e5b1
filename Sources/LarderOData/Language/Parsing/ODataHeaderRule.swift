/// The rules of the grammar's section 8, headers and preferences, with their names in the grammar.
package enum ODataHeaderRule: String, Sendable, CaseIterable {
  case header, asyncresult, isolation, prefer, preference
  case contentID = "content-id"
  case requestID = "request-id"
  case entityID = "odata-entityid"
  case error = "odata-error"
  case maxVersion = "odata-maxversion"
  case version = "odata-version"
  case allowEntityReferencesPreference, callbackPreference, continueOnErrorPreference, includeAnnotationsPreference
  case annotationsList, annotationIdentifier
  case maxpagesizePreference, omitValuesPreference, respondAsyncPreference, returnPreference, trackChangesPreference
  case waitPreference
  case iri = "IRI-in-header"
  case uri = "URI"

  /// The result of a rule.
  package enum Value: Sendable, Hashable {
    case header(ODataHeader)
    case preference(ODataPreference)
    case annotations([ODataAnnotationPattern])
    case text(String)
  }

  /// Parses a whole text by the rule. Headers are not percent-encoded.
  package func read(_ text: String) throws(ODataSyntaxError) -> Value {
    var reader = try SyntaxReader(text, options: ODataParserOptions(isPercentEncoded: false))
    return try reader.readToEnd { (reader) throws(ODataSyntaxError) in try reader.value(of: self) }
  }
}

extension SyntaxReader {
  fileprivate mutating func value(of rule: ODataHeaderRule) throws(ODataSyntaxError) -> ODataHeaderRule.Value {
    switch rule {
    case .header: return .header(try header(HeaderName.allCases))
    case .asyncresult: return .header(try header([.asyncResult]))
    case .contentID: return .header(try header([.contentID]))
    case .isolation: return .header(try header([.isolation, .odataIsolation]))
    case .entityID: return .header(try header([.entityID]))
    case .error: return .header(try header([.error]))
    case .maxVersion: return .header(try header([.maxVersion]))
    case .version: return .header(try header([.version]))
    case .prefer: return .header(try header([.prefer]))
    case .preference: return .preference(try preference(PreferenceName.allCases))
    case .allowEntityReferencesPreference: return .preference(try preference([.allowEntityReferences]))
    case .callbackPreference: return .preference(try preference([.callback]))
    case .continueOnErrorPreference: return .preference(try preference([.continueOnError]))
    case .includeAnnotationsPreference: return .preference(try preference([.includeAnnotations]))
    case .maxpagesizePreference: return .preference(try preference([.maxPageSize]))
    case .omitValuesPreference: return .preference(try preference([.omitValues]))
    case .respondAsyncPreference: return .preference(try preference([.respondAsync]))
    case .returnPreference: return .preference(try preference([.return]))
    case .trackChangesPreference: return .preference(try preference([.trackChanges]))
    case .waitPreference: return .preference(try preference([.wait]))
    case .annotationsList: return .annotations(try annotationPatterns())
    case .annotationIdentifier: return .annotations([try annotationPattern()])
    case .requestID: return .text(try requestID())
    case .iri: return .text(try visible("an IRI", orSpace: false))
    case .uri: return .text(try uri())
    }
  }
}
