internal import LarderOData

/// The wrapper of a CSDL document: `Edmx`, `DataServices`, `Reference` (CSDL XML 4.01 §3; [MC-EDMX]).
enum CSDLDocumentGrammar {
  /// The root: `Edmx`, or in reduced documents `DataServices` or `Schema` itself.
  static func root(_ element: inout CSDLElement, _ reading: CSDLReading) throws -> CSDLFrame {
    switch element.name {
    case "Edmx":
      return edmx(&element, reading)
    case "DataServices":
      reading.report(.unusualForm, "the document has no Edmx element", at: element)
      return dataServices(&element, reading)
    case "Schema":
      reading.report(.unusualForm, "the document has no Edmx element", at: element)
      return CSDLSchemaGrammar.schema(&element, reading)
    default:
      throw MetadataError(
        .notMetadata, "the document is \(kind(of: element)), its root is \(element.qualifiedName)",
        cure: cure(for: element), at: reading.location(element))
    }
  }

  private static func kind(of element: CSDLElement) -> String {
    switch element.name.lowercased() {
    case "html": "an HTML page"
    case "service": "a service document"
    case "feed", "entry": "an Atom document with data"
    case "error": "an OData error"
    case "envelope": "a SOAP message"
    default: "not metadata"
    }
  }

  private static func cure(for element: CSDLElement) -> String {
    switch element.name.lowercased() {
    case "html": "Check the URL and the credentials: services often respond with a log-in page"
    case "service", "feed", "entry": "Read the URL of the service root followed by $metadata"
    case "error": "Read the error message of the service"
    default: "Check that the URL ends in $metadata"
    }
  }

  private static func edmx(_ element: inout CSDLElement, _ reading: CSDLReading) -> CSDLFrame {
    let text = element.take("Version")?.trimmed
    let isOASIS = element.namespace == "http://docs.oasis-open.org/odata/ns/edmx"
    switch text {
    case "4.0": reading.version = .v4
    case "4.01": reading.version = .v401
    case "1.0" where !isOASIS, "2.0" where !isOASIS, "3.0" where !isOASIS, nil where !isOASIS: break
    default:
      reading.version = isOASIS ? .v4 : nil
      reading.report(.unusualForm, "Version=\"\(text ?? "")\" of Edmx is not known", at: element)
    }
    _ = element.rest(reading)
    return wrapper("Edmx")
  }

  private static func wrapper(_ name: String) -> CSDLFrame {
    BracketFrame(name) { element, reading in
      switch element.name {
      case "DataServices": return dataServices(&element, reading)
      case "Reference": return reference(&element, reading)
      case "Schema": return CSDLSchemaGrammar.schema(&element, reading)
      // Files of the Entity Framework contain the schemas one level deeper.
      case "Runtime", "ConceptualModels": return wrapper(element.name)
      default: return nil
      }
    }
  }

  private static func dataServices(_ element: inout CSDLElement, _ reading: CSDLReading) -> CSDLFrame {
    reading.dataServiceVersion = element.takeMetadata("DataServiceVersion") ?? element.take("DataServiceVersion")
    reading.maxDataServiceVersion =
      element.takeMetadata("MaxDataServiceVersion") ?? element.take("MaxDataServiceVersion")
    if reading.version ?? .v2 < .v4 {
      let isThird = reading.dataServiceVersion?.trimmed.hasPrefix("3") ?? false
      if isThird { reading.version = .v3 }
      if reading.dataServiceVersion != nil, !isThird { reading.version = .v2 }
    }
    _ = element.rest(reading)
    return BracketFrame("DataServices") { element, reading in
      switch element.name {
      case "Schema": return CSDLSchemaGrammar.schema(&element, reading)
      case "Reference": return reference(&element, reading)
      default: return nil
      }
    }
  }

  private static func reference(_ element: inout CSDLElement, _ reading: CSDLReading) -> CSDLFrame {
    var reference = EdmReference(uri: element.take("Uri") ?? element.take("Url") ?? "")
    reference.foreignAttributes = element.rest(reading)
    return ElementFrame("Reference", reference.uri, reference) { element, frame, reading in
      switch element.name {
      case "Include": return include(&element, reading) { frame.element.includes.append($0) }
      case "IncludeAnnotations":
        guard let namespace = element.takeRequired("TermNamespace", reading) else { return SkippedFrame(element.name) }
        frame.element.includeAnnotations.append(
          EdmIncludeAnnotations(
            termNamespace: namespace, qualifier: element.take("Qualifier"),
            targetNamespace: element.take("TargetNamespace")))
        _ = element.rest(reading)
        return BracketFrame(element.name)
      default: return nil
      }
    } deliver: {
      reading.references.append($0)
    }
  }

  static func include(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmInclude) -> Void
  ) -> CSDLFrame {
    guard let namespace = element.takeRequired("Namespace", reading) else { return SkippedFrame(element.name) }
    var include = EdmInclude(namespace: namespace, alias: element.take("Alias"))
    include.foreignAttributes = element.rest(reading)
    return ElementFrame(element.name, namespace, include, deliver: deliver)
  }
}
