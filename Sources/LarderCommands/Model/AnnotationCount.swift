internal import LarderOData

/// Counts the annotations that `--annotations` would show.
enum AnnotationCount {
  static func of(_ model: EdmModel) -> Int {
    model.schemas.reduce(0) { $0 + of($1) }
  }

  private static func annotationCount(_ element: some EdmElement) -> Int {
    element.annotations.count + element.foreignAttributes.count
  }

  private static func sum(_ elements: [some EdmElement]) -> Int { elements.reduce(0) { $0 + annotationCount($1) } }

  private static func of(_ schema: EdmSchema) -> Int {
    var count = annotationCount(schema) + schema.annotationGroups.reduce(0) { $0 + $1.annotations.count }
    for type in schema.entityTypes {
      count += annotationCount(type) + sum(type.properties) + sum(type.navigationProperties)
    }
    for type in schema.complexTypes {
      count += annotationCount(type) + sum(type.properties) + sum(type.navigationProperties)
    }
    for type in schema.enumTypes { count += annotationCount(type) + sum(type.members) }
    for function in schema.functions { count += annotationCount(function) + sum(function.parameters) }
    for action in schema.actions { count += annotationCount(action) + sum(action.parameters) }
    for container in schema.containers {
      count += annotationCount(container) + sum(container.entitySets) + sum(container.singletons)
      count += sum(container.functionImports) + sum(container.actionImports)
    }
    return count + sum(schema.typeDefinitions) + sum(schema.terms)
  }
}
