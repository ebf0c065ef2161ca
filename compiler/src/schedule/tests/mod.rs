mod division;
mod properties;
