internal import LarderOData

// Operations, terms and containers of a model as JSON.
extension JSONOutput {
  mutating func write(_ function: EdmFunction) throws(OutputError) {
    beginObject()
    member("name", function.name)
    member("isBound", function.isBound)
    member("isComposable", function.isComposable)
    member("entitySetPath", function.entitySetPath)
    try writeSignature(function.parameters, function.returnType)
    try end(function)
  }

  mutating func write(_ action: EdmAction) throws(OutputError) {
    beginObject()
    member("name", action.name)
    member("isBound", action.isBound)
    member("entitySetPath", action.entitySetPath)
    try writeSignature(action.parameters, action.returnType)
    try end(action)
  }

  private mutating func writeSignature(
    _ parameters: [EdmParameter], _ returnType: EdmReturnType?
  ) throws(OutputError) {
    try member("parameters", parameters, always: true) { (json, parameter) throws(OutputError) in
      json.beginObject()
      json.member("name", parameter.name)
      json.member("type", parameter.type.description)
      json.member("nullable", parameter.isNullable)
      json.writeFacets(parameter.facets)
      json.member("mode", parameter.mode)
      try json.end(parameter)
    }
    guard let returnType else { return }
    name("returnType")
    beginObject()
    member("type", returnType.type.description)
    member("nullable", returnType.isNullable)
    writeFacets(returnType.facets)
    try end(returnType)
  }

  mutating func write(_ term: EdmTerm) throws(OutputError) {
    beginObject()
    member("name", term.name)
    member("type", term.type.description)
    member("nullable", term.nullable ?? true)
    writeFacets(term.facets)
    member("baseTerm", term.baseTerm)
    member("defaultValue", term.defaultValue)
    try member("appliesTo", term.appliesTo) { (json, kind) in json.string(kind) }
    try end(term)
  }

  mutating func write(_ container: EdmEntityContainer) throws(OutputError) {
    beginObject()
    member("name", container.name)
    member("extends", container.extends)
    member("isDefaultEntityContainer", container.isDefault ? true : nil)
    try member("entitySets", container.entitySets, always: true) { (json, set) throws(OutputError) in
      json.beginObject()
      json.member("name", set.name)
      json.member("entityType", set.entityType)
      json.member("includeInServiceDocument", set.includeInServiceDocument)
      try json.writeBindings(set.navigationPropertyBindings)
      try json.end(set)
    }
    try member("singletons", container.singletons) { (json, singleton) throws(OutputError) in
      json.beginObject()
      json.member("name", singleton.name)
      json.member("type", singleton.type)
      json.member("nullable", singleton.nullable)
      try json.writeBindings(singleton.navigationPropertyBindings)
      try json.end(singleton)
    }
    try member("functionImports", container.functionImports) { (json, item) throws(OutputError) in
      try json.write(item)
    }
    try member("actionImports", container.actionImports) { (json, item) throws(OutputError) in
      json.beginObject()
      json.member("name", item.name)
      json.member("action", item.action)
      json.member("entitySet", item.entitySet)
      try json.end(item)
    }
    try member("associationSets", container.associationSets) { (json, set) throws(OutputError) in
      json.beginObject()
      json.member("name", set.name)
      json.member("association", set.association)
      try json.member("ends", set.ends, always: true) { (json, end) throws(OutputError) in
        json.beginObject()
        json.member("role", end.role)
        json.member("entitySet", end.entitySet)
        try json.end(end)
      }
      try json.end(set)
    }
    try end(container)
  }

  private mutating func write(_ item: EdmFunctionImport) throws(OutputError) {
    beginObject()
    member("name", item.name)
    member("function", item.function)
    member("entitySet", item.entitySet)
    member("entitySetPath", item.entitySetPath)
    member("includeInServiceDocument", item.includeInServiceDocument)
    member("httpMethod", item.httpMethod)
    member("isBindable", item.isBindable)
    member("isSideEffecting", item.isSideEffecting)
    member("isComposable", item.isComposable)
    // In V4 the function itself has the parameters.
    if item.function == nil || !item.parameters.isEmpty { try writeSignature(item.parameters, item.returnType) }
    try end(item)
  }

  private mutating func writeBindings(_ bindings: [EdmNavigationPropertyBinding]) throws(OutputError) {
    try member("navigationPropertyBindings", bindings) { (json, binding) in
      json.beginObject()
      json.member("path", binding.path)
      json.member("target", binding.target)
      json.endObject()
    }
  }
}
