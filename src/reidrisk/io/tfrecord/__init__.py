"""TFRecord files and the Topics records in them, without TensorFlow."""
