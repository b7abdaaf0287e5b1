/// Resolves schemas: replaces aliases, follows the associations of V1 to V3, checks names.
struct EdmResolver {
  var schemas: [EdmSchema]
  let names: EdmNames
  var diagnostics: [EdmDiagnostic] = []
  private var declared: Set<String> = []

  init(schemas: [EdmSchema], references: [EdmReference]) {
    self.schemas = schemas
    names = EdmNames(schemas: schemas, references: references)
    for schema in schemas {
      declared.formUnion(schema.entityTypes.lazy.map(\.qualifiedName))
      declared.formUnion(schema.complexTypes.lazy.map(\.qualifiedName))
      declared.formUnion(schema.enumTypes.lazy.map(\.qualifiedName))
      declared.formUnion(schema.typeDefinitions.lazy.map(\.qualifiedName))
    }
  }

  mutating func resolve() {
    // Moved out of `self`, so that the steps can report diagnostics while they change them in place.
    var schemas = self.schemas
    self.schemas = []
    for place in schemas.indices {
      resolveEntityTypes(&schemas[place].entityTypes)
      resolveComplexTypes(&schemas[place].complexTypes)
      resolveOperations(&schemas[place])
      resolveTerms(&schemas[place])
      resolveAssociations(&schemas[place].associations)
      resolveContainers(&schemas[place].containers)
      resolveAnnotations(&schemas[place])
    }
    var associations = EdmAssociationResolver(schemas: schemas)
    associations.resolve()
    self.schemas = associations.schemas
    diagnostics += associations.diagnostics
  }

  private mutating func check(_ name: String, at path: @autoclosure () -> String) {
    guard !declared.contains(name), !names.isExternal(name) else { return }
    diagnostics.append(
      EdmDiagnostic(
        .unresolvedName, "the type \(name) is not declared in the document", at: MetadataLocation(path: path())))
  }

  private mutating func resolve(_ type: inout EdmTypeReference, at path: @autoclosure () -> String) {
    guard type.name != nil else { return }
    type = names.resolve(type)
    if let name = type.name { check(name, at: path()) }
  }

  private mutating func resolve(_ name: inout String, at path: @autoclosure () -> String) {
    name = names.resolve(name)
    check(name, at: path())
  }

  private mutating func resolveEntityTypes(_ types: inout [EdmEntityType]) {
    for place in types.indices {
      let name = types[place].qualifiedName
      if var base = types[place].baseType {
        resolve(&base, at: name)
        types[place].baseType = base
      }
      resolveProperties(&types[place].properties, of: name)
      resolveNavigationProperties(&types[place].navigationProperties, of: name)
      names.resolve(&types[place].annotations)
    }
  }

  private mutating func resolveComplexTypes(_ types: inout [EdmComplexType]) {
    for place in types.indices {
      let name = types[place].qualifiedName
      if var base = types[place].baseType {
        resolve(&base, at: name)
        types[place].baseType = base
      }
      resolveProperties(&types[place].properties, of: name)
      resolveNavigationProperties(&types[place].navigationProperties, of: name)
      names.resolve(&types[place].annotations)
    }
  }

  private mutating func resolveProperties(_ properties: inout [EdmProperty], of type: String) {
    for place in properties.indices {
      let name = properties[place].name
      resolve(&properties[place].type, at: type + "/" + name)
      names.resolve(&properties[place].annotations)
    }
  }

  private mutating func resolveNavigationProperties(_ properties: inout [EdmNavigationProperty], of type: String) {
    for place in properties.indices {
      let name = properties[place].name
      resolve(&properties[place].type, at: type + "/" + name)
      if let association = properties[place].relationship?.association {
        properties[place].relationship?.association = names.resolve(association)
      }
      if var onDelete = properties[place].onDelete {
        names.resolve(&onDelete.annotations)
        properties[place].onDelete = onDelete
      }
      properties[place].partner = properties[place].partner.map { names.resolve(target: $0) }
      for constraint in properties[place].referentialConstraints.indices {
        names.resolve(&properties[place].referentialConstraints[constraint].annotations)
      }
      names.resolve(&properties[place].annotations)
    }
  }

  private mutating func resolveOperations(_ schema: inout EdmSchema) {
    for place in schema.functions.indices {
      let name = schema.functions[place].qualifiedName
      resolveParameters(&schema.functions[place].parameters, of: name)
      resolveReturnType(&schema.functions[place].returnType, of: name)
      names.resolve(&schema.functions[place].annotations)
    }
    for place in schema.actions.indices {
      let name = schema.actions[place].qualifiedName
      resolveParameters(&schema.actions[place].parameters, of: name)
      resolveReturnType(&schema.actions[place].returnType, of: name)
      names.resolve(&schema.actions[place].annotations)
    }
  }

  private mutating func resolveParameters(_ parameters: inout [EdmParameter], of operation: String) {
    for place in parameters.indices {
      let name = parameters[place].name
      resolve(&parameters[place].type, at: operation + "/" + name)
      names.resolve(&parameters[place].annotations)
    }
  }

  private mutating func resolveReturnType(_ result: inout EdmReturnType?, of operation: String) {
    if var returned = result {
      resolve(&returned.type, at: operation + "/$ReturnType")
      names.resolve(&returned.annotations)
      result = returned
    }
  }

  private mutating func resolveTerms(_ schema: inout EdmSchema) {
    for place in schema.terms.indices {
      let name = schema.terms[place].qualifiedName
      resolve(&schema.terms[place].type, at: name)
      schema.terms[place].baseTerm = schema.terms[place].baseTerm.map { names.resolve($0) }
      names.resolve(&schema.terms[place].annotations)
    }
    for place in schema.enumTypes.indices {
      names.resolve(&schema.enumTypes[place].annotations)
      for member in schema.enumTypes[place].members.indices {
        names.resolve(&schema.enumTypes[place].members[member].annotations)
      }
    }
    for place in schema.typeDefinitions.indices { names.resolve(&schema.typeDefinitions[place].annotations) }
  }

  private mutating func resolveAssociations(_ associations: inout [EdmAssociation]) {
    for place in associations.indices {
      let name = associations[place].qualifiedName
      names.resolve(&associations[place].annotations)
      if var constraint = associations[place].referentialConstraint {
        names.resolve(&constraint.annotations)
        associations[place].referentialConstraint = constraint
      }
      for end in associations[place].ends.indices {
        resolve(&associations[place].ends[end].type, at: name)
        names.resolve(&associations[place].ends[end].annotations)
        guard var onDelete = associations[place].ends[end].onDelete else { continue }
        names.resolve(&onDelete.annotations)
        associations[place].ends[end].onDelete = onDelete
      }
    }
  }

  private mutating func resolveContainers(_ containers: inout [EdmEntityContainer]) {
    for place in containers.indices {
      let name = containers[place].qualifiedName
      containers[place].extends = containers[place].extends.map { names.resolve($0) }
      names.resolve(&containers[place].annotations)
      for item in containers[place].entitySets.indices {
        let path = name + "/" + containers[place].entitySets[item].name
        resolve(&containers[place].entitySets[item].entityType, at: path)
        resolveBindings(&containers[place].entitySets[item].navigationPropertyBindings)
        names.resolve(&containers[place].entitySets[item].annotations)
      }
      for item in containers[place].singletons.indices {
        let path = name + "/" + containers[place].singletons[item].name
        resolve(&containers[place].singletons[item].type, at: path)
        resolveBindings(&containers[place].singletons[item].navigationPropertyBindings)
        names.resolve(&containers[place].singletons[item].annotations)
      }
      resolveImports(&containers[place])
    }
  }

  private func resolveBindings(_ bindings: inout [EdmNavigationPropertyBinding]) {
    guard names.hasAliases else { return }
    for place in bindings.indices {
      bindings[place].path = names.resolve(target: bindings[place].path)
      bindings[place].target = names.resolve(target: bindings[place].target)
    }
  }

  private mutating func resolveImports(_ container: inout EdmEntityContainer) {
    let name = container.qualifiedName
    for item in container.functionImports.indices {
      let path = name + "/" + container.functionImports[item].name
      container.functionImports[item].function = container.functionImports[item].function.map { names.resolve($0) }
      resolveParameters(&container.functionImports[item].parameters, of: path)
      resolveReturnType(&container.functionImports[item].returnType, of: path)
      names.resolve(&container.functionImports[item].annotations)
    }
    for item in container.actionImports.indices {
      container.actionImports[item].action = names.resolve(container.actionImports[item].action)
      names.resolve(&container.actionImports[item].annotations)
    }
    for item in container.associationSets.indices {
      container.associationSets[item].association = names.resolve(container.associationSets[item].association)
      names.resolve(&container.associationSets[item].annotations)
      for end in container.associationSets[item].ends.indices {
        names.resolve(&container.associationSets[item].ends[end].annotations)
      }
    }
  }

  private func resolveAnnotations(_ schema: inout EdmSchema) {
    names.resolve(&schema.annotations)
    names.resolve(&schema.usings)
    for place in schema.annotationGroups.indices {
      schema.annotationGroups[place].target = names.resolve(target: schema.annotationGroups[place].target)
      names.resolve(&schema.annotationGroups[place].annotations)
    }
  }
}
