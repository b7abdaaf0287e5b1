"""A small shop as an OData 4.01 service on the framework odatapy: the model, its data and its behaviour."""
