"""Small tools that existing simulations import, under the module names that they know."""
