internal import LarderOData

/// Reads an `app:service` (RFC 5023 §8; OData Atom Format 4.0 §5).
final class AtomServiceFrame: AtomFrame {
  private var document = ODataServiceDocument()
  private let deliver: (ODataServiceDocument) throws -> Void

  init(_ element: XMLElement, base: String?, deliver: @escaping (ODataServiceDocument) throws -> Void) {
    self.deliver = deliver
    super.init(element, base: base)
    document.context = element.metadata("context")
  }

  override func child(_ element: XMLElement, _ reading: AtomReading) -> AtomFrame {
    guard element.name.local == "workspace" else { return SkippedAtomFrame(element, base: base) }
    return BracketAtomFrame(element, base: base) { element, frame, _ in
      let kind: ODataServiceDocument.Element.Kind
      switch element.name.local {
      case "collection": kind = .entitySet
      case "singleton": kind = .singleton
      case "function-import": kind = .functionImport
      case "service-document": kind = .serviceDocument
      default: return nil
      }
      return self.element(element, kind, base: frame.base)
    }
  }

  private func element(_ element: XMLElement, _ kind: ODataServiceDocument.Element.Kind, base: String?) -> AtomFrame {
    let href = element.attribute("href") ?? ""
    let name = element.metadata("name")
    var title: String?
    let finish = { [self] in
      let elementName = name ?? href
      document.elements.append(
        ODataServiceDocument.Element(
          name: elementName, kind: kind, url: AtomBase.resolve(href, against: base),
          title: title == elementName ? nil : title))
    }
    return BracketAtomFrame(element, base: base, finish: finish) { element, frame, _ in
      guard element.name.local == "title" else { return nil }
      return TextAtomFrame(element, base: frame.base) { title = $0.trimmed }
    }
  }

  override func end(_ reading: AtomReading) throws { try deliver(document) }
}

/// Reads an `m:error` ([MS-ODATA] §2.2.8.1.2; OData Atom Format 4.0 §19).
final class AtomErrorFrame: AtomFrame {
  private var error = ODataErrorPayload(code: "", message: "")
  private let deliver: (ODataErrorPayload) throws -> Void

  init(_ element: XMLElement, base: String?, deliver: @escaping (ODataErrorPayload) throws -> Void) {
    self.deliver = deliver
    super.init(element, base: base)
  }

  override func child(_ element: XMLElement, _ reading: AtomReading) throws -> AtomFrame {
    switch element.name.local {
    case "code": return TextAtomFrame(element, base: base) { self.error.code = $0.trimmed }
    case "message":
      error.messageLanguage = element.attribute("lang", namespace: AtomNamespace.xml)
      return TextAtomFrame(element, base: base) { self.error.message = $0 }
    case "target": return TextAtomFrame(element, base: base) { self.error.target = $0.trimmed }
    case "details":
      return BracketAtomFrame(element, base: base) { element, frame, _ in
        self.detail(element, base: frame.base)
      }
    case "innererror":
      return AtomPropertyFrame(element, base: base, declared: nil) { property in
        self.error.innerError = property.value
        self.readInnerError(property.value)
      }
    case "annotation":
      return AtomAnnotations.annotation(element, base: base, reading) { annotation, _ in
        self.error.annotations.append(annotation)
      }
    default: return SkippedAtomFrame(element, base: base)
    }
  }

  private func detail(_ element: XMLElement, base: String?) -> AtomFrame {
    var detail = ODataErrorPayload.Detail(code: "", message: "")
    return BracketAtomFrame(element, base: base, finish: { self.error.details.append(detail) }) { element, frame, _ in
      switch element.name.local {
      case "code": return TextAtomFrame(element, base: frame.base) { detail.code = $0.trimmed }
      case "message": return TextAtomFrame(element, base: frame.base) { detail.message = $0 }
      case "target": return TextAtomFrame(element, base: frame.base) { detail.target = $0.trimmed }
      default: return nil
      }
    }
  }

  /// Reads SAP Gateway's additions: the transaction, the resolution, and further messages.
  private func readInnerError(_ value: ODataValue) {
    guard case .complex(let inner) = value else { return }
    if case .string(let text)? = inner["transactionid"] { error.transactionID = text }
    if case .complex(let resolution)? = inner["Error_Resolution"] { error.errorResolution = resolution.properties }
    guard case .complex(let details)? = inner["errordetails"] else { return }
    for property in details.properties {
      guard case .complex(let content) = property.value else { continue }
      error.details.append(AtomErrorFrame.detail(content))
    }
  }

  private static func detail(_ content: ODataComplexValue) -> ODataErrorPayload.Detail {
    func text(_ name: String) -> String? {
      if case .string(let text)? = content[name], !text.isEmpty { text } else { nil }
    }
    var detail = ODataErrorPayload.Detail(code: text("code") ?? "", message: text("message") ?? "")
    detail.target = text("target") ?? text("propertyref")
    detail.severity = text("severity").map { ODataMessage.Severity($0) }
    detail.longTextURL = text("longtext_url")
    return detail
  }

  override func end(_ reading: AtomReading) throws { try deliver(error) }
}
