@_spi(Stores) import LarderHTTP
import LarderOData

/// The document at the service root: what the model offers there (JSON Format 4.01 §5; V2 JSON Format §3).
struct ServiceDocument {
  let model: EdmModel
  let form: ResultForm

  /// Returns the document's bytes.
  func json() -> [UInt8] {
    guard !form.isVerbose else { return verbose() }
    var out = ResultBytes()
    out.append(UInt8(ascii: "{"))
    if form.metadata != .none {
      out.append("\"\(form.control)context\":")
      out.string("\(form.serviceRoot)$metadata")
      out.append(UInt8(ascii: ","))
    }
    out.append(literal: "\"value\":[")
    let entries = self.entries
    for (place, entry) in entries.enumerated() {
      out.append(literal: place == 0 ? "{\"name\":" : ",{\"name\":")
      out.string(entry.name)
      out.append(literal: ",\"kind\":\"")
      out.append(entry.kind)
      out.append(literal: "\",\"url\":")
      out.string(PercentEncoding.encode(entry.name))
      out.append(UInt8(ascii: "}"))
    }
    out.append(literal: "]}")
    return out.takeAll()
  }

  private func verbose() -> [UInt8] {
    var out = ResultBytes()
    out.append(literal: "{\"d\":{\"EntitySets\":[")
    for (place, entry) in entries.filter({ $0.kind == "EntitySet" }).enumerated() {
      if place > 0 { out.append(UInt8(ascii: ",")) }
      out.string(entry.name)
    }
    out.append(literal: "]}}")
    return out.takeAll()
  }

  /// Sets and singletons unless they are marked as excluded, and functions if they are marked as included (CSDL 4.01
  /// §13.2 to §13.6).
  private var entries: [(name: String, kind: String)] {
    guard let container = model.defaultContainer else { return [] }
    let sets = container.entitySets.filter { $0.includeInServiceDocument != false }.map { ($0.name, "EntitySet") }
    let singletons = container.singletons.map { ($0.name, "Singleton") }
    let functions =
      model.version < .v4
      ? []
      : container.functionImports.filter { $0.includeInServiceDocument == true }.map { ($0.name, "FunctionImport") }
    return sets + singletons + functions
  }
}
